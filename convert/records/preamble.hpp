// SPDX-License-Identifier: MIT
// The metadata in front of a chunk, made again from what a reader knows, so that the chunk decodes alone
// (docs/trace-format.md, section 3). The order is that of the kernel's exporter; names are in the order of their
// numbers, for the order in which they were registered is not known any more.
#pragma once

#include "host/trace/facts.hpp"

#include <cstddef>
#include <vector>

namespace host::convert::records {

// begin: everything but preamble_slots, which is set. All records carry `stamp`, that of the chunk's first record.
[[nodiscard]] std::vector<std::byte> make_preamble(tracer::ChunkBegin& begin, const trace::TraceFacts& facts,
                                                   const trace::Names& names, lib::Ticks stamp);

} // namespace host::convert::records
