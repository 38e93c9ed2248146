// SPDX-License-Identifier: MIT
// Parses whole numbers, and writes numbers and text in place, for output of millions of events. To write, the caller
// provides the room, and each function returns the position after its last character. Decimal digits are made eight at
// a time, in one register, without a loop and without a branch that depends on the number. The order is little-endian:
// the first digit is the lowest byte.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace host::text {

static_assert(std::endian::native == std::endian::little, "digits have the same order in memory as in the register");

inline constexpr std::uint64_t kEightDigits = 100'000'000;
inline constexpr std::size_t kNumberMax = 20; // characters of a 64-bit number with its sign

// Returns the number that the whole text is; nothing if it is another text, or does not fit. base: of an integer.
template <typename Number, typename... Base>
[[nodiscard]] std::optional<Number> number_of(std::string_view text, Base... base) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Precondition: text.data() is not null, even if the text is empty.
[[nodiscard]] inline char* put(char* at, std::string_view text) {
    std::memcpy(at, text.data(), text.size()); // called by its name, because the sanitizers then check the pointer
    return at + text.size();
}

namespace detail {

// Returns the digits of value < 10^8 as numbers from 0 to 9, one in each byte. Each step halves the parts: it divides
// all of them at once by a multiplication with a rounded reciprocal, which is exact for parts of this size.
[[nodiscard]] constexpr std::uint64_t eight_digits(std::uint64_t value) {
    const std::uint64_t fours = (value / 10'000) | ((value % 10'000) << 32);
    const std::uint64_t hundreds = ((fours * 10'486) >> 20) & 0x0000'007F'0000'007F;
    const std::uint64_t twos = hundreds | ((fours - hundreds * 100) << 16);
    const std::uint64_t tens = ((twos * 103) >> 10) & 0x000F'000F'000F'000F;
    return tens | ((twos - tens * 10) << 8);
}

inline constexpr std::uint64_t kZeros = 0x3030'3030'3030'3030;

// Returns '0' - ' ' in each byte before the first digit that is not 0, and in all bytes if every digit is 0.
[[nodiscard]] constexpr std::uint64_t leading_blanks(std::uint64_t digits) {
    return ((digits & -digits) - 1) & 0x1010'1010'1010'1010;
}

inline constexpr std::uint64_t kLastDigit = std::uint64_t{1} << 56; // 0 is written as "0", not as nothing

// Writes value < 10^8. Needs eight bytes of room.
[[nodiscard]] inline char* put_up_to_eight(char* at, std::uint64_t value) {
    const std::uint64_t digits = eight_digits(value);
    const auto blank = static_cast<unsigned>(std::countr_zero(digits | kLastDigit)) / 8;
    const std::uint64_t text = (digits | kZeros) >> (8 * blank);
    __builtin_memcpy(at, &text, sizeof text);
    return at + sizeof text - blank;
}

} // namespace detail

// Writes a decimal number and returns where it ends. Needs eight bytes of room, or kNumberMax for a value of 10^8 or
// more. A single digit has a path of its own, because most processors, chunks and levels are below ten.
[[nodiscard]] inline char* put_decimal(char* at, std::uint64_t value) {
    if (value < 10) {
        *at = static_cast<char>('0' + value);
        return at + 1;
    }
    if (value >= kEightDigits) {
        const std::uint64_t upper = value / kEightDigits;
        if (upper >= kEightDigits) {
            return std::to_chars(at, at + kNumberMax, value).ptr;
        }
        const std::uint64_t lower = detail::eight_digits(value - upper * kEightDigits) | detail::kZeros;
        at = detail::put_up_to_eight(at, upper);
        __builtin_memcpy(at, &lower, sizeof lower);
        return at + sizeof lower;
    }
    return detail::put_up_to_eight(at, value);
}

// Writes any integer in decimal and returns where it ends. Needs kNumberMax bytes of room.
[[nodiscard]] inline char* put_number(char* at, std::integral auto value) {
    if (std::cmp_less(value, 0)) {
        return std::to_chars(at, at + kNumberMax, value).ptr;
    }
    return put_decimal(at, static_cast<std::uint64_t>(value));
}

// Writes exactly `digits` lower-case hexadecimal digits, without a prefix.
[[nodiscard]] inline char* put_hexadecimal(char* at, std::uint64_t value, unsigned digits) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (unsigned i = digits; i-- > 0;) {
        at[i] = kDigits[value & 0x0F];
        value >>= 4;
    }
    return at + digits;
}

// Writes eight lower-case hexadecimal digits. The nibbles are spread over the bytes by halving, and the first digit
// ends in the highest byte.
[[nodiscard]] inline char* put_eight_hexadecimal(char* at, std::uint32_t value) {
    std::uint64_t spread = value;
    spread = (spread | (spread << 16)) & 0x0000'FFFF'0000'FFFF;
    spread = (spread | (spread << 8)) & 0x00FF'00FF'00FF'00FF;
    spread = (spread | (spread << 4)) & 0x0F0F'0F0F'0F0F'0F0F;
    const std::uint64_t above_nine = ((spread + 0x0606'0606'0606'0606) >> 4) & 0x0101'0101'0101'0101;
    const std::uint64_t text = __builtin_bswap64(spread + detail::kZeros + above_nine * ('a' - '9' - 1));
    __builtin_memcpy(at, &text, sizeof text);
    return at + sizeof text;
}

// Writes exactly nine digits, with leading zeros. Precondition: value < 10^9.
[[nodiscard]] inline char* put_nine_digits(char* at, std::uint64_t value) {
    const std::uint64_t text = detail::eight_digits(value % kEightDigits) | detail::kZeros;
    *at = static_cast<char>('0' + value / kEightDigits);
    __builtin_memcpy(at + 1, &text, sizeof text);
    return at + 1 + sizeof text;
}

inline constexpr std::size_t kPaddedWidth = 13;
inline constexpr std::uint64_t kPaddedLimit = 10'000'000'000'000;

// Writes the value right-aligned in kPaddedWidth columns. Needs 16 bytes of room. Precondition: value < kPaddedLimit.
[[nodiscard]] inline char* put_padded(char* at, std::uint64_t value) {
    const std::uint64_t upper = detail::eight_digits(value / kEightDigits);
    const std::uint64_t lower = detail::eight_digits(value % kEightDigits);
    const std::uint64_t all_above_blank = upper == 0 ? ~std::uint64_t{0} : 0;
    const std::uint64_t left = (upper | detail::kZeros) - detail::leading_blanks(upper);
    const std::uint64_t right =
        (lower | detail::kZeros) - (detail::leading_blanks(lower | detail::kLastDigit) & all_above_blank);
    // The first three of the sixteen columns are blank and are dropped.
    const std::uint64_t first = (left >> 24) | (right << 40);
    const std::uint64_t second = right >> 24;
    __builtin_memcpy(at, &first, sizeof first);
    __builtin_memcpy(at + sizeof first, &second, sizeof second);
    return at + kPaddedWidth;
}

// Holds a short text in an array of fixed size. put() copies the whole array, which takes a few moves and no loop; the
// next write overwrites the bytes after the text.
template <std::size_t N>
struct TextOf {
    static_assert(N < 256);
    static constexpr std::size_t kBytes = N;
    std::array<char, N> bytes{};
    std::uint8_t size = 0;

    // Returns false if the text does not fit.
    [[nodiscard]] bool set(std::string_view text) {
        if (text.size() > N) {
            return false;
        }
        std::ranges::copy(text, bytes.begin());
        size = static_cast<std::uint8_t>(text.size());
        return true;
    }

    [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }

    // Needs kBytes of room.
    [[nodiscard]] char* put(char* at) const {
        __builtin_memcpy(at, bytes.data(), N);
        return at + size;
    }
};

using ShortText = TextOf<48>;

// Writes decimal numbers that rise slowly, such as the times of events. All digits but the last eight are usually those
// of the previous number, so they are kept as text.
class RisingNumber {
  public:
    static constexpr std::size_t kRoom = 32; // bytes that each put needs

    [[nodiscard]] char* put(char* at, std::uint64_t value) {
        if (value < kEightDigits) {
            return put_decimal(at, value);
        }
        const std::uint64_t last = last_eight(at, value);
        __builtin_memcpy(at, &last, sizeof last);
        return at + sizeof last;
    }

    // Writes value / 1000 with three decimals.
    [[nodiscard]] char* put_thousandth(char* at, std::uint64_t value) {
        std::uint64_t last = 0;
        if (value < kEightDigits) {
            const std::uint64_t whole = value / 1000;
            at = put_decimal(at, whole);
            last = detail::eight_digits(value - whole * 1000) | detail::kZeros;
        } else {
            last = last_eight(at, value);
            __builtin_memcpy(at, &last, sizeof last);
            at += sizeof last - 3;
        }
        const std::uint64_t end = (last >> 40) << 8 | '.';
        __builtin_memcpy(at, &end, sizeof end);
        return at + 4;
    }

  private:
    // Writes all digits but the last eight, moves `at` after them, and returns the last eight.
    [[nodiscard]] std::uint64_t last_eight(char*& at, std::uint64_t value) {
        const std::uint64_t upper = value / kEightDigits;
        if (upper != m_upper) [[unlikely]] {
            renew(upper);
        }
        at = m_text.put(at);
        return detail::eight_digits(value - upper * kEightDigits) | detail::kZeros;
    }

    [[gnu::noinline]] void renew(std::uint64_t upper) {
        std::array<char, kNumberMax> digits{};
        m_upper = upper;
        static_cast<void>(m_text.set({digits.data(), put_decimal(digits.data(), upper)})); // at most 12 digits
    }

    std::uint64_t m_upper = 0; // the number in m_text; 0: none
    TextOf<16> m_text;
};

} // namespace host::text
