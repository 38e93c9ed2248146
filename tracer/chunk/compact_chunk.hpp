// SPDX-License-Identifier: MIT
// Declares chunks whose main area is a compact stream: those that are written compactly from the start, and those that
// are re-encoded when they are complete.
#pragma once

#include "lib/result.hpp"
#include "tracer/chunk/chunk_store.hpp"
#include "tracer/compact/encoder.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/record/cpu_trace.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// These functions are for chunks that are written compactly from the start. The stream is that of tracer/compact/, with
// the fixed map of live_map(). The record path writes a full heartbeat before every event whose stamp is in another
// turn than the previous one. So heartbeats need no timer, no filter can suppress them, and a chunk's times can be
// decoded from the chunk alone. Context: task or irq-off.

// Returns the least bytes of the main area: header, map, first heartbeat, and space for a long event of 64 slots.
[[nodiscard]] std::size_t compact_chunk_bytes_min(compact::Layout layout);

// Makes the main area an empty stream whose first heartbeat is the present time. no_space: the area is smaller than
// compact_chunk_bytes_min(). Precondition: the chunk is not being recorded into, and control.data is aligned to 16.
[[nodiscard]] lib::Result<void> start_compact_chunk(ChunkControl& control, compact::Layout layout,
                                                    std::uint32_t area_bytes);

// Returns the number of records that a stream of the record path decodes to, blackout_end records included; each slot
// of a long event counts, as everywhere. It is 0 for an empty span. Time is linear in the stream.
[[nodiscard]] std::uint64_t count_compact_records(std::span<const std::byte> stream);

// Re-encodes the main area of a chunk as a compact stream in a new region and frees the old one. The emergency area is
// copied unchanged, as records, after the stream. Links, counts, uses and the set of sinks that carried the chunk do
// not change. The chunk cannot be recorded into until it is FREE and selected or linked again; it keeps its reduced
// size.
//
//   begin() --> measure() --> reserve() --> encode() --> finish()       on failure: abandon(), nothing has changed
//   lock        no lock       lock          no lock      lock
//
// The lock is not held while records are read and encoded, because that takes time. The chunk is BUSY instead, so it
// cannot be deleted, sent or emptied meanwhile. Context: task or irq-off, one compression at a time.

class ChunkCompressor {
  public:
    // Without an encoder every compression is unsupported.
    constexpr ChunkCompressor(ChunkStore& store, compact::Encoder* encoder)
        : m_store(store)
        , m_encoder(encoder) {}

    ChunkCompressor(const ChunkCompressor&) = delete;
    ChunkCompressor& operator=(const ChunkCompressor&) = delete;

    // Freezes the chunk. busy: it is BUSY or being recorded into, or another one is being compressed; exists: it is
    // already compact; not_found: it is FREE, or its main area is empty; unsupported: there is no encoder. The caller
    // holds the lock.
    [[nodiscard]] lib::Result<void> begin(Chunk& chunk, compact::Layout layout);

    // Counts in a first pass. corrupt: a stamp is less than the one before; no_space: the result would not be smaller.
    [[nodiscard]] lib::Result<void> measure();

    // Allocates the new region. no_space: no gap of the arena is large enough. The caller holds the lock.
    [[nodiscard]] lib::Result<void> reserve();

    [[nodiscard]] lib::Result<void> encode();

    // Gives the new region to the chunk. The caller holds the lock.
    void finish();

    // Undoes begin(). The caller holds the lock.
    void abandon() { m_store.abandon_conversion(); }

    // Returns the bytes of the stream; valid after measure().

    [[nodiscard]] std::size_t stream_bytes() const { return m_stream_bytes; }

  private:
    ChunkStore& m_store;
    compact::Encoder* m_encoder;
    Chunk* m_chunk = nullptr;
    compact::Layout m_layout{};
    std::size_t m_records_bytes = 0;
    std::size_t m_stream_bytes = 0;
    std::span<std::byte> m_region;
};

// Returns why begin() refused.
[[nodiscard]] constexpr const char* compress_refusal_text(lib::Error error) {
    if (error == lib::Error::exists) {
        return "the chunk is already COMPR";
    }
    return error == lib::Error::not_found ? "the chunk is FREE, or empty"
                                          : "the chunk is BUSY or being recorded into, or another is being compressed";
}

} // namespace tracer
