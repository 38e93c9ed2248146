// SPDX-License-Identifier: MIT
// Chunks that are written compactly from the start: what the record path needs to know of a layout, and what a reader
// needs to know of the chunk. The stream is that of tracer/compact/, with the fixed map of live_map(). The record path
// puts a full heartbeat in front of every event whose stamp lies in another turn than the one before, so no timer has
// to see to it that none is missed, no filter can stop it, and a chunk says all about its times by itself.
// Context: task or irq-off.
#pragma once

#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/cpu_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// The least main area in bytes: header, map, first heartbeat, and room for one long event of 64 slots.
[[nodiscard]] std::size_t compact_chunk_bytes_min(compact::Layout layout);

// Makes the main area an empty stream whose first heartbeat is now. no_space: the area is less than
// compact_chunk_bytes_min(). Precondition: nobody records into the chunk, and control.data is aligned to 16.
[[nodiscard]] lib::Result<void> start_compact_chunk(ChunkControl& control, compact::Layout layout,
                                                    std::uint32_t area_bytes);

// Records that a stream of the record path decodes to, blackout_end records included; the slots of long events count
// one by one, as everywhere. 0 for an empty span. Takes time in proportion to the stream.
[[nodiscard]] std::uint64_t count_compact_records(std::span<const std::byte> stream);

} // namespace tracer
