// SPDX-License-Identifier: MIT
// A file that has lost or gained bytes between its records: all that follow are off their places, and read from there
// they would make no sense. Their places are found again from the end of the file, where the last record ends. A file
// that was merely cut, or has bytes after its last record, is not one of these.
#pragma once

#include "host/trace/byte_source.hpp"

#include <cstdint>
#include <optional>

namespace host::formats::dat {

// The first of the records that fill the file up to its end, where the records that begin at begin_bytes do not: an
// offset greater than begin_bytes. The slots of a chunk_begin that has lost its first ones are left out, and what is
// before them. Nothing if the last kRunMin slots of the file, counted from its end, are no records, or if the source
// cannot be read.
[[nodiscard]] std::optional<std::uint64_t> find_shifted_records(trace::ByteSource& source, std::uint64_t begin_bytes,
                                                                std::uint64_t end_bytes);

} // namespace host::formats::dat
