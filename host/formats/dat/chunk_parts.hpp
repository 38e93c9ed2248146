// SPDX-License-Identifier: MIT
// The reports of chunks that are read in parts, while the machine writes them: one for each chunk, however many parts
// come, so that memory is bounded by the number of chunks. The part that is being read has a report of its own, at the
// same index for all parts.
#pragma once

#include "host/trace/facts.hpp"

#include <cstddef>
#include <vector>

namespace host::formats::dat {

// The part at this index has ended: its chunk's report takes its counts. The sum over all reports is that of all parts
// only after the report at the index was replaced. Precondition: part < reports.size(), and so for the other.
void add_part(std::vector<trace::ChunkReport>& reports, std::size_t part);

// The last part has ended: its chunk's report takes its place.
void end_parts(std::vector<trace::ChunkReport>& reports, std::size_t part);

} // namespace host::formats::dat
