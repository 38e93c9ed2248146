// SPDX-License-Identifier: MIT
// The memory of a machine as a trace: its chunks, found by the descriptor of the black box, one by one. Of a machine
// that runs it is a snapshot, or, if followed, everything from there on until its run ends. Disk: for a snapshot, one
// file without a name, of the size of the records; memory is that of the largest chunk (followed: of all chunks).
#pragma once

#include "host/formats/dat/record_stream.hpp"

namespace host::formats::memory {

// Any error was reported to diagnostics. corrupt: there is no black box in it, or none of its chunks has a record;
// io, no_space: of the temporary file. Reports, beside what BlackBox::open() reports: W-GAP (a chunk that is left out,
// and why), E-META (names that do not hold), E-EMPTY.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

} // namespace host::formats::memory
