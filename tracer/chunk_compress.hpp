// SPDX-License-Identifier: MIT
// Re-encodes a chunk's main area as a compact stream in a region of its own and frees the old one. The emergency area
// stays what it is, records, and moves along: so the order in the chunk stays main, then emergency. Links, counts, uses
// and what the sinks have are as before; the chunk cannot be recorded into until it is FREE and taken again, and then
// it is as small as it has become.
//
//   begin() --> measure() --> reserve() --> encode() --> finish()       any failure: abandon(), and nothing has changed
//   lock        no lock       lock          no lock      lock
//
// The lock is not held while records are read and written, for that takes time; the chunk is BUSY instead, so nobody
// deletes, sends or empties it. Context: task or irq-off, one compression at a time.
#pragma once

#include "tracer/chunk_store.hpp"
#include "tracer/compact/encoder.hpp"

namespace tracer {

class ChunkCompressor {
  public:
    constexpr ChunkCompressor(ChunkStore& store, compact::Encoder& encoder)
        : m_store(store)
        , m_encoder(encoder) {}

    ChunkCompressor(const ChunkCompressor&) = delete;
    ChunkCompressor& operator=(const ChunkCompressor&) = delete;

    // Freezes the chunk. busy: it is BUSY or being recorded into, or another one is being compressed; exists: it is
    // compact already; not_found: it is FREE, or its main area is empty. The caller holds the lock.
    [[nodiscard]] lib::Result<void> begin(Chunk& chunk, compact::Layout layout);

    // Counts. corrupt: a stamp is less than the one before it; no_space: it would not become smaller.
    [[nodiscard]] lib::Result<void> measure();

    // Takes the new region. no_space: no gap of the arena is large enough. The caller holds the lock.
    [[nodiscard]] lib::Result<void> reserve();

    [[nodiscard]] lib::Result<void> encode();

    // The new region is the chunk's. The caller holds the lock.
    void finish();

    // Whatever begin() did is undone. The caller holds the lock.
    void abandon() { m_store.abandon_conversion(); }

    // What measure() found, in bytes: the records of the main area, and the stream.
    [[nodiscard]] std::size_t records_bytes() const { return m_records_bytes; }

    [[nodiscard]] std::size_t stream_bytes() const { return m_stream_bytes; }

  private:
    ChunkStore& m_store;
    compact::Encoder& m_encoder;
    Chunk* m_chunk = nullptr;
    compact::Layout m_layout{};
    std::size_t m_records_bytes = 0;
    std::size_t m_stream_bytes = 0;
    std::span<std::byte> m_region;
};

// Why begin() refused.
[[nodiscard]] constexpr const char* compress_refusal_text(lib::Error error) {
    if (error == lib::Error::exists) {
        return "the chunk is COMPR already";
    }
    return error == lib::Error::not_found ? "the chunk is FREE, or empty"
                                          : "the chunk is BUSY or being recorded into, or another is being compressed";
}

} // namespace tracer
