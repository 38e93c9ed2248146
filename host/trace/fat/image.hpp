// SPDX-License-Identifier: MIT
// The image of a FAT volume as a trace: the files Ntrace.dat of its root directory, in order of N, copied out to files
// without names. Memory is constant; the disk holds the copies.
#pragma once

#include "host/trace/record_stream.hpp"

namespace host::trace::fat {

// Of a volume that has more files the rest is reported and left out.
inline constexpr std::size_t kFilesMax = 512;

// Any error was reported to diagnostics. corrupt: no FAT volume, or none of our files on it; io, no_space. Reports
// E-FAT (what contradicts itself, with its place), W-CAP.
[[nodiscard]] lib::Result<std::unique_ptr<RecordStream>> open(const NamedSource& input, const OpenOptions& options,
                                                              Diagnostics& diagnostics);

} // namespace host::trace::fat
