// SPDX-License-Identifier: MIT
// A network capture as a trace: the packets of the first export found in it, in order of their numbers, become the
// chunks that they were cut from. A packet is known by its magic, whatever the port. Disk: one file without a name, of
// the size of the records; memory is constant.
#pragma once

#include "host/formats/dat/record_stream.hpp"

namespace host::formats::capture {

// Any error was reported to diagnostics. corrupt: there is no packet of ours in it; io, no_space. Reports, beside what
// FrameSource reports: E-LINKTYPE, W-PACKET (skipped, by reason), W-GAP (numbers missing), W-DUP, E-CONFLICT (same
// number, other content), E-BOOT (another export begins).
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

} // namespace host::formats::capture
