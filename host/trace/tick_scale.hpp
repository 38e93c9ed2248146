// SPDX-License-Identifier: MIT
// Ticks to nanoseconds for readers through which millions of stamps pass: the same results as lib::TickRate, bit for
// bit, with two multiplications in place of the divisions.
#pragma once

#include "lib/units.hpp"

#include <cstdint>

namespace host::trace {

class TickScale {
  public:
    TickScale() = default; // converts nothing: khz() is 0

    // khz 0: as without.
    explicit TickScale(std::uint32_t khz)
        : m_khz(khz)
        , m_reciprocal(khz != 0 ? ~std::uint64_t{0} / khz : 0) {}

    [[nodiscard]] std::uint32_t khz() const { return m_khz; }

    // Rounds down. Saturates at 2^64-1. Precondition: khz() != 0.
    [[nodiscard]] std::uint64_t to_nanoseconds(std::uint64_t ticks) const {
        const Quotient milliseconds = divide(ticks);
        if (milliseconds.whole >= kMillisecondsMax) {
            return lib::TickRate{m_khz}.to_nanoseconds({ticks}).value;
        }
        return milliseconds.whole * kNanoseconds + divide(milliseconds.rest * kNanoseconds).whole;
    }

  private:
    static constexpr std::uint64_t kNanoseconds = 1'000'000; // in a millisecond; a rate in kHz counts ticks in one
    static constexpr std::uint64_t kMillisecondsMax = ~std::uint64_t{0} / kNanoseconds;

    struct Quotient {
        std::uint64_t whole;
        std::uint64_t rest;
    };

    // The reciprocal is too small by less than 1, so the product's upper half misses the quotient by 0 or 1.
    [[nodiscard]] Quotient divide(std::uint64_t value) const {
        __extension__ using Wide = unsigned __int128;
        auto whole = static_cast<std::uint64_t>((static_cast<Wide>(value) * m_reciprocal) >> 64);
        std::uint64_t rest = value - whole * m_khz;
        if (rest >= m_khz) {
            ++whole;
            rest -= m_khz;
        }
        return {whole, rest};
    }

    std::uint32_t m_khz = 0;
    std::uint64_t m_reciprocal = 0;
};

} // namespace host::trace
