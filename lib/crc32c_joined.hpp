// SPDX-License-Identifier: MIT
// Computes the CRC-32C (lib/crc32c.hpp) of two pieces from those of each: no byte is read twice. Context: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lib {

namespace detail {

// Returns the product of two polynomials modulo that of the CRC; bit 31 is x^0.
constexpr std::uint32_t crc32c_product(std::uint32_t left, std::uint32_t right) {
    std::uint32_t product = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        product ^= right & (0U - (left >> 31));
        left <<= 1;
        right = (right >> 1) ^ (0x82F6'3B78U & (0U - (right & 1)));
    }
    return product;
}

// Entry n is x^(8 * 2^n), by which a checksum is multiplied if 2^n bytes follow.
consteval std::array<std::uint32_t, 64> crc32c_powers() {
    std::array<std::uint32_t, 64> powers{1U << 23};
    for (std::size_t n = 1; n < powers.size(); ++n) {
        powers[n] = crc32c_product(powers[n - 1], powers[n - 1]);
    }
    return powers;
}

inline constexpr auto kCrc32cPowers = crc32c_powers();

} // namespace detail

// Returns the checksum of two pieces one after the other, from the checksum of each and the length of the second.
[[nodiscard]] constexpr std::uint32_t crc32c_joined(std::uint32_t first, std::uint32_t second,
                                                    std::uint64_t second_bytes) {
    for (std::size_t n = 0; second_bytes != 0; ++n, second_bytes >>= 1) {
        first = (second_bytes & 1) != 0 ? detail::crc32c_product(first, detail::kCrc32cPowers[n]) : first;
    }
    return first ^ second;
}

// Joins checksums whose second piece always has the same length: four look-ups replace a product.
class Crc32cJoiner {
  public:
    constexpr explicit Crc32cJoiner(std::uint64_t second_bytes) {
        for (std::size_t byte = 0; byte < m_tables.size(); ++byte) {
            for (std::uint32_t value = 0; value < m_tables[byte].size(); ++value) {
                m_tables[byte][value] = crc32c_joined(value << (8 * byte), 0, second_bytes);
            }
        }
    }

    [[nodiscard]] constexpr std::uint32_t joined(std::uint32_t first, std::uint32_t second) const {
        return m_tables[0][first & 0xFF] ^ m_tables[1][(first >> 8) & 0xFF] ^ m_tables[2][(first >> 16) & 0xFF] ^
               m_tables[3][first >> 24] ^ second;
    }

  private:
    std::array<std::array<std::uint32_t, 256>, 4> m_tables{};
};

} // namespace lib
