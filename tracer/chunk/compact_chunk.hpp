// SPDX-License-Identifier: MIT
// Chunks that are written compactly from the start: what the record path needs to know of a layout, and what a reader
// needs to know of the chunk. The stream is that of tracer/compact/, with the fixed map of live_map(). The record path
// writes a full heartbeat before every event whose stamp is in another turn than the previous one. So heartbeats need
// no timer, no filter can suppress them, and a chunk's times can be decoded from the chunk alone. Context: task or
// irq-off.
#pragma once

#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/record/cpu_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// The minimum size of the main area in bytes: header, map, first heartbeat, and space for one long event of 64 slots.
[[nodiscard]] std::size_t compact_chunk_bytes_min(compact::Layout layout);

// Makes the main area an empty stream whose first heartbeat is the present time. no_space: the area is smaller than
// compact_chunk_bytes_min(). Precondition: the chunk is not being recorded into, and control.data is aligned to 16.
[[nodiscard]] lib::Result<void> start_compact_chunk(ChunkControl& control, compact::Layout layout,
                                                    std::uint32_t area_bytes);

// Number of records that a stream of the record path decodes to, blackout_end records included; each slot of a long
// event counts, as everywhere. 0 for an empty span. Time is linear in the stream.
[[nodiscard]] std::uint64_t count_compact_records(std::span<const std::byte> stream);

} // namespace tracer
