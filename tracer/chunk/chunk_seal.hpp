// SPDX-License-Identifier: MIT
// The seal of a chunk is the checksum that the machine states in chunk_begin. Host-safe.
#pragma once

#include "tracer/names/metadata.hpp"

#include <array>
#include <cstddef>

namespace tracer {

// Returns whether a checksum is stated. An unknown kind, or a checksum without a kind, counts, too: it cannot be right.
[[nodiscard]] constexpr bool is_sealed(const ChunkBegin& begin) {
    return begin.checksum != ChunkChecksum::none || begin.crc32c != 0;
}

// States where the checksum of a chunk is in the payload of its chunk_begin, length word included.
inline constexpr std::size_t kCrc32cOffset = [] {
    std::array<std::byte, kCombinePayloadMax> bytes{};
    return encode_payload(ChunkBegin{}, bytes).value() - sizeof(ChunkBegin::crc32c); // the last field
}();
static_assert(kCrc32cOffset == 82);

} // namespace tracer
