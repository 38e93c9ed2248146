// SPDX-License-Identifier: MIT
// A Text is a fixed buffer, without a heap, to which integers, strings and characters are appended. A text that does
// not fit is cut, and truncated() returns true. The other functions read whole numbers, because a freestanding library
// has no <charconv>. Context: any.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace lib {

// Removes the decimal digits at the front of the text and returns their number. Returns nothing, and removes nothing,
// if there is no digit or the number exceeds 64 bits.
[[nodiscard]] constexpr std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t number = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        const auto digit = static_cast<std::uint64_t>(text[digits] - '0');
        if (number > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
            return std::nullopt;
        }
        number = number * 10 + digit;
    }
    if (digits == 0) {
        return std::nullopt;
    }
    text.remove_prefix(digits);
    return number;
}

// Returns the whole text as a number, or nothing if it is no decimal number or exceeds the maximum.
[[nodiscard]] constexpr std::optional<std::uint64_t> number_of(std::string_view text, std::uint64_t maximum) {
    const auto number = take_number(text);
    return text.empty() && number && *number <= maximum ? number : std::nullopt;
}

template <std::size_t Capacity>
class Text {
  public:
    constexpr Text() = default;

    constexpr explicit Text(std::string_view text) { add(text); }

    constexpr Text& add(char character) {
        if (m_size < Capacity) {
            m_characters[m_size++] = character;
        } else {
            m_truncated = true;
        }
        return *this;
    }

    constexpr Text& add(std::string_view text) {
        for (const char character : text) {
            add(character);
        }
        return *this;
    }

    // Appends a decimal number, right-aligned in at least `width` characters, padded with `pad`.
    template <std::integral T>
    constexpr Text& decimal(T number, int width = 0, char pad = ' ') {
        const bool negative = number < 0;
        auto magnitude = static_cast<std::uint64_t>(number);
        if (negative) {
            magnitude = ~magnitude + 1;
        }
        std::array<char, 21> digits{};
        std::size_t count = 0;
        do {
            digits[count++] = static_cast<char>('0' + magnitude % 10);
            magnitude /= 10;
        } while (magnitude != 0);
        if (negative) {
            digits[count++] = '-';
        }
        return padded(digits.data(), count, width, pad);
    }

    // Appends a hexadecimal number without prefix, in lower case, with at least `width` digits, padded with zeros.
    constexpr Text& hex(std::uint64_t number, int width = 0) {
        std::array<char, 16> digits{};
        std::size_t count = 0;
        do {
            digits[count++] = "0123456789abcdef"[number & 0xF];
            number >>= 4;
        } while (number != 0);
        return padded(digits.data(), count, width, '0');
    }

    constexpr void clear() {
        m_size = 0;
        m_truncated = false;
    }

    [[nodiscard]] constexpr std::string_view view() const { return {m_characters.data(), m_size}; }

    [[nodiscard]] constexpr bool truncated() const { return m_truncated; }

    [[nodiscard]] constexpr bool empty() const { return m_size == 0; }

  private:
    constexpr Text& padded(const char* reversed_digits, std::size_t count, int width, char pad) {
        for (int i = static_cast<int>(count); i < width; ++i) {
            add(pad);
        }
        for (std::size_t i = count; i-- > 0;) {
            add(reversed_digits[i]);
        }
        return *this;
    }

    std::array<char, Capacity> m_characters{};
    std::size_t m_size = 0;
    bool m_truncated = false;
};

} // namespace lib
