// SPDX-License-Identifier: MIT
// CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, initial value and final xor all ones: RFC 3720 appendix B.4.
// crc32c(more, crc32c(first)) equals the checksum of both together. Context: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lib {

namespace detail {

consteval std::array<std::uint32_t, 256> crc32c_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F6'3B78U : 0U);
        }
        table[i] = value;
    }
    return table;
}

inline constexpr auto kCrc32cTable = crc32c_table();

} // namespace detail

[[nodiscard]] constexpr std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0) {
    std::uint32_t crc = ~previous;
    for (const std::byte byte : bytes) {
        crc = (crc >> 8) ^ detail::kCrc32cTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
    }
    return ~crc;
}

} // namespace lib
