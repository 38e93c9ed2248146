// SPDX-License-Identifier: MIT
// Converts ticks to nanoseconds for readers of millions of stamps. The results are those of lib::TickRate, bit for bit,
// but one multiplication replaces the divisions; a trace of several hours needs more of them. Also completes the 32-bit
// times of records to 64 bits.
//
//   factor = 2^s * 10^6 / khz, rounded up: too great by less than 1, so ticks * factor / 2^s is too great by less than
//   ticks / 2^s. The exact quotient is a multiple of 1/khz, so both round down to the same number as long as
//   ticks * khz <= 2^s.
#pragma once

#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace host::trace {

class TickScale {
  public:
    TickScale() = default; // cannot convert: khz() is 0

    // With khz 0 it cannot convert.
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

    // Rounds down and saturates at 2^64-1. Precondition: khz() != 0.
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

    // Returns 2^shift * 10^6 / khz, rounded up.
    [[nodiscard]] Wide scaled(unsigned shift) const { return ((Wide{kNanoseconds} << shift) + m_khz - 1) / m_khz; }

    std::uint32_t m_khz = 0;
    unsigned m_shift = 0;
    std::uint64_t m_factor = 0;
    std::uint64_t m_factor_holds = 0; // m_factor is exact up to so many ticks
    std::uint64_t m_reciprocal = 0;
};

// Records have room for 32 bits of a time. The upper half follows from a time nearby: of all 64-bit times with the
// recorded low half, the nearest one is meant. If it is known that the time is past, or is to come, the nearest one in
// that direction is meant, so it may be up to 2^32-1 units away.
//
// Returns how far the nearest time with this low half is from `about`: -2^31 to 2^31-1 units.
[[nodiscard]] constexpr std::int64_t distance_to_nearest(std::uint32_t low, std::uint64_t about) {
    return static_cast<std::int32_t>(low - static_cast<std::uint32_t>(about));
}

// Returns the nearest time with this low half. If that would be below 0 or above 2^64-1, it returns `low`.
[[nodiscard]] constexpr std::uint64_t nearest_time(std::uint32_t low, std::uint64_t about) {
    const std::int64_t distance = distance_to_nearest(low, about);
    const auto forward = static_cast<std::uint64_t>(distance);
    const bool is_out_of_range =
        distance < 0 ? about < 0 - forward : about > std::numeric_limits<std::uint64_t>::max() - forward;
    return is_out_of_range ? low : about + forward;
}

// Returns the latest time with this low half that is not after `last`; `low` if that would be below 0.
[[nodiscard]] constexpr std::uint64_t latest_time(std::uint32_t low, std::uint64_t last) {
    const std::uint32_t back = static_cast<std::uint32_t>(last) - low;
    return back > last ? low : last - back;
}

// Returns the first time with this low half that is not before `first`; `low` if that would be above 2^64-1.
[[nodiscard]] constexpr std::uint64_t first_time(std::uint32_t low, std::uint64_t first) {
    const std::uint32_t forward = low - static_cast<std::uint32_t>(first);
    return forward > std::numeric_limits<std::uint64_t>::max() - first ? low : first + forward;
}

// The kernel records a release after it has happened, so the time is past, however late the record is written. But the
// kernel computes the time from nanoseconds, and its timer may fire early: by rounding, by a step of the timer, by the
// error of the clock's rate. Sixteen million ticks are milliseconds on the fastest processors, which is more than all
// of these.
inline constexpr std::uint64_t kReleaseEarlyTicks = 1 << 24;

// Returns the time of the release with this low half whose record has this stamp.
[[nodiscard]] constexpr std::uint64_t release_time(std::uint32_t low, std::uint64_t stamp) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - stamp;
    return latest_time(low, stamp + (room < kReleaseEarlyTicks ? room : kReleaseEarlyTicks));
}

static_assert(nearest_time(2, 0x1'FFFF'FFFF) == 0x2'0000'0002);
static_assert(nearest_time(0xFFFF'FFFF, 0x2'0000'0000) == 0x1'FFFF'FFFF);
static_assert(nearest_time(0xFFFF'FFFF, 0) == 0xFFFF'FFFF);
static_assert(latest_time(5, 0x2'0000'0005) == 0x2'0000'0005 && latest_time(6, 0x2'0000'0005) == 0x1'0000'0006);
static_assert(latest_time(6, 5) == 6);
static_assert(first_time(5, 0x2'0000'0005) == 0x2'0000'0005 && first_time(4, 0x2'0000'0005) == 0x3'0000'0004);
static_assert(first_time(0, ~std::uint64_t{0}) == 0);

} // namespace host::trace
