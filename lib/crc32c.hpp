// SPDX-License-Identifier: MIT
// Computes CRC-32C (reflected polynomial 0x82F63B78, initial value and final xor all ones: RFC 3720 appendix B.4);
// crc32c(more, crc32c(first)) is that of both together. It takes eight bytes at a time ("slicing by 8": M. Kounavis, F.
// Berry, Novel Table Lookup-Based Algorithms for High-Performance CRC Generation, IEEE ToC 57, 2008). Context: any.
#pragma once

#include "lib/endian.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lib {

namespace detail {

using Crc32cTable = std::array<std::uint32_t, 256>;

// Table n holds the contribution of a byte that n bytes follow.
consteval std::array<Crc32cTable, 8> crc32c_tables() {
    std::array<Crc32cTable, 8> tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (std::size_t n = 0; n < tables.size(); ++n) {
            for (int bit = 0; bit < 8; ++bit) {
                value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F6'3B78U : 0U);
            }
            tables[n][i] = value;
        }
    }
    return tables;
}

inline constexpr auto kCrc32cTables = crc32c_tables();

} // namespace detail

[[nodiscard]] constexpr std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0) {
    const auto& tables = detail::kCrc32cTables;
    std::uint32_t crc = ~previous;
    for (; bytes.size() >= tables.size(); bytes = bytes.subspan(tables.size())) {
        const std::uint64_t word = load_le<std::uint64_t>(bytes) ^ crc;
        crc = tables[7][word & 0xFF] ^ tables[6][(word >> 8) & 0xFF] ^ tables[5][(word >> 16) & 0xFF] ^
              tables[4][(word >> 24) & 0xFF] ^ tables[3][(word >> 32) & 0xFF] ^ tables[2][(word >> 40) & 0xFF] ^
              tables[1][(word >> 48) & 0xFF] ^ tables[0][word >> 56];
    }
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
    }
    return ~crc;
}

} // namespace lib
