// SPDX-License-Identifier: MIT
// The parts of the dissector that do not depend on the event table.
#pragma once

#include <string_view>

namespace host::dissector {

extern const std::string_view kScriptFields;   // protocol, fields, experts, preferences
extern const std::string_view kScriptDecode;   // long events and the names they give
extern const std::string_view kScriptRecords;  // one record, and the walk over those of a packet
extern const std::string_view kScriptSequence; // what the packets before one say about it
extern const std::string_view kScriptReliable; // packets of TRACER-V2.0
extern const std::string_view kScriptPackets;  // packets of TRACER-V1.0, registration

} // namespace host::dissector
