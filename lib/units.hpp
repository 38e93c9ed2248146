// SPDX-License-Identifier: MIT
// Defines strong types for the two kinds of time. Ticks are raw TSC counts, as in the trace; nanoseconds are used for
// configuration. They never mix: a TickRate converts, with 128-bit products, so no length of a trace overflows.
// Context: any.
#pragma once

#include "lib/assert.hpp"

#include <compare>
#include <cstdint>

namespace lib {

struct Ticks {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(Ticks, Ticks) = default;

    // The sum saturates: the greatest time means never.
    friend constexpr Ticks operator+(Ticks a, Ticks b) {
        return {a.value + b.value < a.value ? ~std::uint64_t{0} : a.value + b.value};
    }

    // Precondition: a >= b.
    friend constexpr Ticks operator-(Ticks a, Ticks b) { return {a.value - b.value}; }
};

struct Nanoseconds {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(Nanoseconds, Nanoseconds) = default;

    friend constexpr Nanoseconds operator+(Nanoseconds a, Nanoseconds b) { return {a.value + b.value}; }

    // Precondition: a >= b.
    friend constexpr Nanoseconds operator-(Nanoseconds a, Nanoseconds b) { return {a.value - b.value}; }
};

// Returns a length of time.
// count: microseconds, below 2^64 / 1000.
constexpr Nanoseconds microseconds(std::uint64_t count) {
    return {count * 1'000};
}

// Returns a length of time.
// count: milliseconds, below 2^64 / 1000000.
constexpr Nanoseconds milliseconds(std::uint64_t count) {
    return {count * 1'000'000};
}

// Returns value * numerator / denominator, rounded down, without losing the upper half of the product. The division is
// done in 32-bit steps, because the freestanding build has no 128-bit division routine. Precondition: 0 < denominator <
// 2^32 and the quotient fits 64 bits; otherwise the result saturates.
constexpr std::uint64_t multiply_divide(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
    ASSERT(denominator != 0 && denominator <= 0xFFFF'FFFF);
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(value) * numerator;
    std::uint64_t remainder = 0;
    std::uint64_t quotient_high = 0;
    std::uint64_t quotient_low = 0;
    for (int word = 3; word >= 0; --word) {
        const auto digit = static_cast<std::uint64_t>((product >> (32 * word)) & 0xFFFF'FFFFU);
        const std::uint64_t dividend = (remainder << 32) | digit;
        const std::uint64_t quotient = dividend / denominator;
        remainder = dividend % denominator;
        quotient_high = (quotient_high << 32) | (quotient_low >> 32);
        quotient_low = (quotient_low << 32) | quotient;
    }
    return quotient_high != 0 ? ~std::uint64_t{0} : quotient_low;
}

// Holds the rate of the time stamp counter. khz is 0 only before calibration; a conversion then asserts.
struct TickRate {
    std::uint32_t khz = 0;

    // Rounds down and saturates at 2^64-1.
    [[nodiscard]] constexpr Ticks to_ticks(Nanoseconds time) const {
        ASSERT(khz != 0);
        return {multiply_divide(time.value, khz, 1'000'000)};
    }

    // Rounds down and saturates at 2^64-1.
    [[nodiscard]] constexpr Nanoseconds to_nanoseconds(Ticks ticks) const {
        ASSERT(khz != 0);
        return {multiply_divide(ticks.value, 1'000'000, khz)};
    }
};

} // namespace lib
