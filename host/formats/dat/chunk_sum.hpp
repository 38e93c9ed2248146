// SPDX-License-Identifier: MIT
// The one place on the host where checksums in a chunk are computed and compared. That of the chunk, as its chunk_begin
// states it (docs/trace-format.md, section 3), is over all bytes of the chunk as the machine sent them, the four of the
// checksum itself taken as zeros.
#pragma once

#include "host/trace/byte_source.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace host::formats::dat {

class ChunkSum {
  public:
    // Takes the slots of a chunk_begin. payload: of these slots together, padding included; stamp: theirs; other_bits:
    // of their codes, those that no machine sets.
    ChunkSum(std::span<const std::byte> payload, lib::Ticks stamp, std::uint16_t other_bits);

    // Bytes of the chunk that follow those taken before.
    void add(std::span<const std::byte> bytes);

    [[nodiscard]] std::uint32_t value() const { return m_value; }

  private:
    std::uint32_t m_value = 0;
};

// What the bytes of a chunk show.
enum class ChunkBytes : std::uint8_t {
    whole,   // the checksum is right
    holed,   // it is wrong, and slots are empty: lost on the way, their places kept
    damaged, // it is wrong
    unread,  // not all bytes are there, or they cannot be read
};

// Adds the bytes after the chunk_begin, up to size_bytes, to its sum and compares. held: those of them that are in
// memory already, from the first on.
[[nodiscard]] ChunkBytes check_bytes(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t size_bytes,
                                     ChunkSum sum, std::uint32_t stated, std::span<const std::byte> held = {});

// Whether a compact stream has the checksum that its header states, or is not sealed, or is cut before its end (then
// its decoder reports where). Reads it once, in pieces.
[[nodiscard]] bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes,
                                          std::uint64_t stream_bytes);

} // namespace host::formats::dat
