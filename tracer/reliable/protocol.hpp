// SPDX-License-Identifier: MIT
// By what the chunks of a run leave over the network. Context: any.
#pragma once

#include <cstdint>

namespace tracer::reliable {

enum class Protocol : std::uint8_t {
    automatic, // V2 if a collector answers it, else V1
    v1,        // TRACER-V1.0: published, no answer
    v2,        // TRACER-V2.0: acknowledged
};

} // namespace tracer::reliable
