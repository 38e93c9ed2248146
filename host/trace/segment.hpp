// SPDX-License-Identifier: MIT
// Where the chunks lie in a file. One file usually holds one chunk; a concatenation holds several; a plain S.Ha.R.K.
// file has no chunk_begin and is one segment. A S.Ha.R.K. cyclic chunk lies in memory order: its time falls at exactly
// one place, and the segment says where the oldest record stands.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace host::trace {

struct Segment {
    std::string path;
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = SlotReader::kToTheEnd;
    std::uint64_t oldest_bytes = 0;       // where to start reading, if not at begin_bytes; 0: there
    std::shared_ptr<ByteSource> source{}; // null: opened by its path when its turn comes
    lib::Ticks first_stamp{};             // of the first record that is no metadata, as far as the file can be believed
};

// Appends the segments of a seekable file. Reports E-EMPTY, E-TRUNC, E-IO; damage inside chunks is for the reader of
// the chunk to report.
void index_file(ByteSource& source, const std::string& path, std::vector<Segment>& segments, Diagnostics& diagnostics);

} // namespace host::trace
