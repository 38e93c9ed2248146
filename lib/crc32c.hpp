// SPDX-License-Identifier: MIT
// CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, initial value and final xor all ones: RFC 3720 appendix B.4.
// crc32c(more, crc32c(first)) equals the checksum of both together. Eight bytes at a time ("slicing by 8": M. Kounavis,
// F. Berry, Novel Table Lookup-Based Algorithms for High-Performance CRC Generation, IEEE ToC 57, 2008). Context: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lib {

namespace detail {

using Crc32cTable = std::array<std::uint32_t, 256>;

// Table n: what a byte contributes if n bytes follow it.
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
    constexpr std::size_t kSlice = detail::kCrc32cTables.size();
    std::uint32_t crc = ~previous;
    while (bytes.size() >= kSlice) {
        std::uint32_t next = 0;
        for (std::size_t i = 0; i < kSlice; ++i) {
            const std::uint32_t mixed = i < sizeof(crc) ? crc >> (8 * i) : 0;
            next ^= detail::kCrc32cTables[kSlice - 1 - i][(mixed ^ static_cast<std::uint32_t>(bytes[i])) & 0xFF];
        }
        crc = next;
        bytes = bytes.subspan(kSlice);
    }
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ detail::kCrc32cTables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
    }
    return ~crc;
}

} // namespace lib
