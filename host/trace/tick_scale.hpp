// SPDX-License-Identifier: MIT
// Ticks to nanoseconds for readers through which millions of stamps pass: the same results as lib::TickRate, bit for
// bit, with one multiplication in place of the divisions, and with more of them where a trace lasts for hours.
//
//   factor = 2^s * 10^6 / khz, rounded up: too great by less than 1, so ticks * factor / 2^s is too great by less than
//   ticks / 2^s. The exact quotient is a multiple of 1/khz, so both round down to the same number as long as
//   ticks * khz <= 2^s.
#pragma once

#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>

namespace host::trace {

class TickScale {
  public:
    TickScale() = default; // converts nothing: khz() is 0

    // khz 0: as without.
    explicit TickScale(std::uint32_t khz)
        : m_khz(khz)
        , m_reciprocal(khz != 0 ? ~std::uint64_t{0} / khz : 0) {
        if (khz != 0) {
            while (scaled(m_shift + 1) <= ~std::uint64_t{0}) {
                ++m_shift;
            }
            m_factor = static_cast<std::uint64_t>(scaled(m_shift));
            m_factor_holds = static_cast<std::uint64_t>(std::min<Wide>((Wide{1} << m_shift) / khz, ~std::uint64_t{0}));
        }
    }

    [[nodiscard]] std::uint32_t khz() const { return m_khz; }

    // Rounds down. Saturates at 2^64-1. Precondition: khz() != 0.
    [[nodiscard]] std::uint64_t to_nanoseconds(std::uint64_t ticks) const {
        if (ticks <= m_factor_holds) {
            return static_cast<std::uint64_t>((Wide{ticks} * m_factor) >> m_shift);
        }
        const Quotient milliseconds = divide(ticks);
        if (milliseconds.whole >= kMillisecondsMax) {
            return lib::TickRate{m_khz}.to_nanoseconds({ticks}).value;
        }
        return milliseconds.whole * kNanoseconds + divide(milliseconds.rest * kNanoseconds).whole;
    }

  private:
    __extension__ using Wide = unsigned __int128;

    static constexpr std::uint64_t kNanoseconds = 1'000'000; // in a millisecond; a rate in kHz counts ticks in one
    static constexpr std::uint64_t kMillisecondsMax = ~std::uint64_t{0} / kNanoseconds;

    struct Quotient {
        std::uint64_t whole;
        std::uint64_t rest;
    };

    // The reciprocal is too small by less than 1, so the product's upper half misses the quotient by 0 or 1.
    [[nodiscard]] Quotient divide(std::uint64_t value) const {
        auto whole = static_cast<std::uint64_t>((static_cast<Wide>(value) * m_reciprocal) >> 64);
        std::uint64_t rest = value - whole * m_khz;
        if (rest >= m_khz) {
            ++whole;
            rest -= m_khz;
        }
        return {whole, rest};
    }

    // 2^shift * 10^6 / khz, rounded up.
    [[nodiscard]] Wide scaled(unsigned shift) const { return ((Wide{kNanoseconds} << shift) + m_khz - 1) / m_khz; }

    std::uint32_t m_khz = 0;
    unsigned m_shift = 0;
    std::uint64_t m_factor = 0;
    std::uint64_t m_factor_holds = 0; // up to so many ticks
    std::uint64_t m_reciprocal = 0;
};

} // namespace host::trace
