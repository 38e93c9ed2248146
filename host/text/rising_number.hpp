// SPDX-License-Identifier: MIT
// Decimal numbers that rise slowly, as the times of events do: all digits but the last eight are mostly those of the
// number before, and are kept as text.
#pragma once

#include "host/text/digits.hpp"
#include "host/text/short_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace host::text {

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

    // The thousandth part of it, with a point in front of its last three digits.
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
    // Writes the others, and moves `at` beyond them.
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

    std::uint64_t m_upper = 0; // whose text this is; 0: none
    TextOf<16> m_text;
};

} // namespace host::text
