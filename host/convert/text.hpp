// SPDX-License-Identifier: MIT
// Formatting in place, for writers through which millions of events pass. The caller has the room; each function
// returns where it stopped.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace host::convert {

inline constexpr std::size_t kNumberCharsMax = 20; // of 64 bits, with a sign

[[nodiscard]] inline char* put(char* at, std::string_view text) {
    __builtin_memcpy(at, text.data(), text.size());
    return at + text.size();
}

// Decimal; at most kNumberCharsMax characters.
[[nodiscard]] inline char* put_number(char* at, std::integral auto value) {
    return std::to_chars(at, at + kNumberCharsMax, value).ptr;
}

// Exactly `digits` lower-case digits, without a prefix.
[[nodiscard]] inline char* put_hex(char* at, std::uint64_t value, unsigned digits) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (unsigned i = digits; i-- > 0;) {
        at[i] = kDigits[value & 0x0F];
        value >>= 4;
    }
    return at + digits;
}

// The first four bytes, little-endian; what is missing is zero.
[[nodiscard]] inline std::uint32_t payload_word(std::span<const std::byte> bytes) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4 && i < bytes.size(); ++i) {
        word |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
    }
    return word;
}

} // namespace host::convert
