// SPDX-License-Identifier: MIT
// The image of a FAT volume as a trace: the files Ntrace.dat of its root directory, in order of N, copied out to files
// without names, and the totals of the run in endtrace.dat. Memory is constant; the disk holds the copies.
#pragma once

#include "host/formats/dat/record_stream.hpp"

namespace host::formats::fat {

// If a volume has more files, the rest is reported and left out.
inline constexpr std::size_t kFilesMax = 512;

// Any error was reported to diagnostics. corrupt: no FAT volume, or none of our files on it; io, no_space. Reports
// E-FAT (what contradicts itself, with its place), W-CAP.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

} // namespace host::formats::fat
