// SPDX-License-Identifier: MIT
// Encodes and decodes the words of the interrupt controllers' registers: entries of the I/O APIC's table, masks of the
// 8259 pair, the vector in service of the local APIC. No register is accessed. Sources: Intel 82093AA data sheet
// section 3.2.4; 8259A data sheet (OCW1); Intel SDM volume 3 section 10.8.4. Context: any.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

namespace arch::x86_64 {

struct LineMode {
    bool level = false;      // else edge
    bool active_low = false; // else active high
};

inline constexpr std::uint32_t kRedirectionMasked = 1U << 16;
inline constexpr std::uint32_t kRedirectionNmi = 4U << 8; // unmasked, edge

// Returns the lower word of a masked line.
[[nodiscard]] constexpr std::uint32_t redirection(std::uint8_t vector, LineMode mode) {
    constexpr std::uint32_t kActiveLow = 1U << 13;
    constexpr std::uint32_t kLevel = 1U << 15;
    return vector | kRedirectionMasked | (mode.level ? kLevel : 0) | (mode.active_low ? kActiveLow : 0);
}

// Returns the number of lines from the I/O APIC's version register, which states the highest line.
[[nodiscard]] constexpr std::uint32_t lines_of(std::uint32_t version) {
    return ((version >> 16) & 0xFF) + 1;
}

// Returns one 8259's mask with its line (0..7) open or closed.
[[nodiscard]] constexpr std::uint8_t pic_mask(std::uint8_t mask, std::uint8_t line, bool enabled) {
    const auto bit = static_cast<std::uint8_t>(1U << line);
    return static_cast<std::uint8_t>(enabled ? mask & ~bit : mask | bit);
}

// Returns the highest vector in eight words of 32 bits, which are read from the highest word down.
template <typename ReadWord>
[[nodiscard]] constexpr std::optional<std::uint8_t> highest_vector(ReadWord read_word) {
    for (std::uint32_t word = 8; word-- > 0;) {
        if (const std::uint32_t bits = read_word(word); bits != 0) {
            return static_cast<std::uint8_t>(32 * word + 31 - static_cast<std::uint32_t>(std::countl_zero(bits)));
        }
    }
    return std::nullopt;
}

} // namespace arch::x86_64
