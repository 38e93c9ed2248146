// SPDX-License-Identifier: MIT
// A Ratio computes value * numerator / denominator for a pair that is known long before: it divides once, and each use
// is two multiplications. The results are those of multiply_divide() (units.hpp) for every value. Context: any.
//
//   factor = ceil(2^96 * n / d), so factor * d = 2^96 * n + e with 0 <= e < d < 2^32
//   value * factor / 2^96 = value * n / d + value * e / (2^96 * d), and the second term is below 1 / d, because
//   value * e < 2^64 * 2^32. The first is a multiple of 1 / d, so the sum rounds down to the same integer.
//
// Source: Granlund, Montgomery, "Division by invariant integers using multiplication" (1994), theorem 4.2.
#pragma once

#include "lib/assert.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace lib {

class Ratio {
  public:
    constexpr Ratio() = default; // the ratio 0

    // Precondition: 0 < denominator.
    constexpr Ratio(std::uint32_t numerator, std::uint32_t denominator) {
        ASSERT(denominator != 0);
        std::uint64_t remainder = numerator;
        Wide quotient = remainder / denominator;
        for (int word = 0; word < 3; ++word) {
            const std::uint64_t dividend = (remainder % denominator) << 32;
            quotient = (quotient << 32) | (dividend / denominator);
            remainder = dividend;
        }
        m_factor = quotient + (remainder % denominator != 0 ? 1 : 0);
    }

    // Returns value * numerator / denominator, rounded down. It saturates at 2^64-1.
    [[nodiscard]] constexpr std::uint64_t of(std::uint64_t value) const {
        const Wide low = Wide{value} * static_cast<std::uint64_t>(m_factor);
        const Wide high = Wide{value} * static_cast<std::uint64_t>(m_factor >> 64);
        const Wide quotient = (high + (low >> 64)) >> 32;
        return quotient >> 64 != 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(quotient);
    }

  private:
    __extension__ using Wide = unsigned __int128;

    Wide m_factor = 0;
};

// Converts times by a rate that is used often.
class TickConversion {
  public:
    constexpr TickConversion() = default; // it has no rate yet: nothing can be converted

    // Precondition: the rate is known.
    constexpr explicit TickConversion(TickRate rate)
        : m_known(true)
        , m_ticks(rate.khz, 1'000'000)
        , m_nanoseconds(1'000'000, rate.khz) {}

    // The conversions are those of TickRate.
    [[nodiscard]] constexpr Ticks to_ticks(Nanoseconds time) const {
        ASSERT(!kChecked || m_known);
        return {m_ticks.of(time.value)};
    }

    [[nodiscard]] constexpr Nanoseconds to_nanoseconds(Ticks ticks) const {
        ASSERT(!kChecked || m_known);
        return {m_nanoseconds.of(ticks.value)};
    }

  private:
    bool m_known = false;
    Ratio m_ticks;
    Ratio m_nanoseconds;
};

} // namespace lib
