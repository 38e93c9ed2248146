// SPDX-License-Identifier: MIT
// The header of each block of a packed session. Blocks are independent of each other: any of them can be lost without
// harm to the rest, and after damage a reader continues at the next header whose checksum is right. All numbers are
// little-endian. docs/packed-format.md describes the whole file.
#pragma once

#include "lib/crc32c.hpp"
#include "lib/endian.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace host::formats::packed {

inline constexpr std::string_view kMagic = "RemoraPK";
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::uint16_t kMajor = 1;
inline constexpr std::uint16_t kMinor = 0;

enum class Content : std::uint8_t {
    table = 1, // names and sizes of the files; the first block
    data = 2,  // part of a file
    end = 3,   // without a body; the last block
};

enum class Method : std::uint8_t {
    bytes = 1,   // one column of bytes
    records = 2, // columns of records
};

// This block cannot be attributed without the first block of its segment, which describes the chunk.
inline constexpr std::uint16_t kNeedsFirst = 1;
// This block cannot be decoded without all blocks before it in its segment.
inline constexpr std::uint16_t kNeedsAll = 2;

inline constexpr std::uint16_t kNoProcessor = 0xFFFF;

struct BlockHeader {
    std::uint16_t major = kMajor;
    std::uint16_t minor = kMinor;
    Content content = Content::data;
    Method method = Method::bytes;
    std::uint16_t flags = 0;
    std::uint16_t cpu = kNoProcessor; // processor of the chunk that the bytes belong to
    std::uint32_t file = 0;           // index in the table
    std::uint32_t segment = 0;        // a chunk, counted from 0 through all files
    std::uint32_t index = 0;          // of the block within its segment
    std::uint32_t raw_bytes = 0;      // of the piece; never 0 but in the last block
    std::uint32_t body_bytes = 0;     // bytes that follow the header
    std::uint64_t sequence = 0;       // number of the block in the archive
    std::uint32_t raw_crc = 0;        // CRC-32C of the piece
    std::uint32_t body_crc = 0;       // CRC-32C of the body

    friend bool operator==(const BlockHeader&, const BlockHeader&) = default;
};

[[nodiscard]] inline std::array<std::byte, kHeaderBytes> encode_header(const BlockHeader& header) {
    std::array<std::byte, kHeaderBytes> bytes{};
    std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
    const auto put = [&](std::size_t at, auto value) { lib::store_le(std::span(bytes).subspan(at), value); };
    put(8, header.major);
    put(10, header.minor);
    bytes[12] = static_cast<std::byte>(header.content);
    bytes[13] = static_cast<std::byte>(header.method);
    put(14, header.flags);
    put(16, header.cpu);
    put(20, header.file);
    put(24, header.segment);
    put(28, header.index);
    put(32, header.raw_bytes);
    put(36, header.body_bytes);
    put(40, header.sequence);
    put(48, header.raw_crc);
    put(52, header.body_crc);
    put(60, lib::crc32c(std::span(bytes).first(60)));
    return bytes;
}

// Returns whether the magic is there. Precondition: bytes.size() >= kHeaderBytes.
[[nodiscard]] inline bool has_magic(std::span<const std::byte> bytes) {
    return std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

[[nodiscard]] inline bool has_sound_checksum(std::span<const std::byte> bytes) {
    return lib::load_le<std::uint32_t>(bytes.subspan(60)) == lib::crc32c(bytes.first(60));
}

// Decodes the header; the reader must check the numbers.
[[nodiscard]] inline BlockHeader decode_header(std::span<const std::byte> bytes) {
    const auto get16 = [&](std::size_t at) { return lib::load_le<std::uint16_t>(bytes.subspan(at)); };
    const auto get32 = [&](std::size_t at) { return lib::load_le<std::uint32_t>(bytes.subspan(at)); };
    return {.major = get16(8),
            .minor = get16(10),
            .content = static_cast<Content>(bytes[12]),
            .method = static_cast<Method>(bytes[13]),
            .flags = get16(14),
            .cpu = get16(16),
            .file = get32(20),
            .segment = get32(24),
            .index = get32(28),
            .raw_bytes = get32(32),
            .body_bytes = get32(36),
            .sequence = lib::load_le<std::uint64_t>(bytes.subspan(40)),
            .raw_crc = get32(48),
            .body_crc = get32(52)};
}

} // namespace host::formats::packed
