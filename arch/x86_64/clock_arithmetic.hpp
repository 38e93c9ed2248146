// SPDX-License-Identifier: MIT
// Does the arithmetic of the two calibrations (tsc.hpp, local_apic.hpp) and of the one-shot timer, without the
// hardware. Context: any.
#pragma once

#include "lib/ratio.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint32_t kTimerCountMax = 0xFFFF'FFFF;

// Returns the mask of the ACPI PM timer, which wraps after 32 bits if the FADT says so (TMR_VAL_EXT), else after 24.
[[nodiscard]] constexpr std::uint64_t pm_timer_mask(bool wide) {
    return wide ? 0xFFFF'FFFF : 0xFF'FFFF;
}

// Returns the distance from one value of an up-counter to the next, at most mask.
[[nodiscard]] constexpr std::uint64_t counted(std::uint64_t begin, std::uint64_t end, std::uint64_t mask) {
    return (end - begin) & mask;
}

// Returns the rate in kHz of a clock that advanced by `ticks` while a reference did by `reference_ticks` (not 0).
[[nodiscard]] constexpr std::uint64_t rate_khz(std::uint64_t ticks, std::uint64_t reference_hz,
                                               std::uint64_t reference_ticks) {
    return lib::multiply_divide(ticks, reference_hz, reference_ticks) / 1000;
}

// Returns the better one of two windows. A disturbance only adds ticks of the TSC, so its least rate is the true one. A
// rate of 0 means that none is known yet.
[[nodiscard]] constexpr std::uint64_t better_tsc_khz(std::uint64_t best, std::uint64_t khz) {
    return best == 0 || khz < best ? khz : best;
}

// Returns the rate in kHz of the APIC's timer, which counted `count` while the clock advanced by `elapsed` (not 0). The
// result is 0 if there is no measurement, because the host was suspended for longer than the counter runs.
[[nodiscard]] constexpr std::uint32_t timer_khz(std::uint32_t count, lib::TickRate clock, lib::Ticks elapsed) {
    if (elapsed.value > kTimerCountMax) {
        return 0;
    }
    return static_cast<std::uint32_t>(lib::multiply_divide(count, clock.khz, elapsed.value));
}

// Returns the better one of two rates. A disturbance only lengthens what has elapsed, so the timer's greatest rate is
// the true one.
[[nodiscard]] constexpr std::uint32_t better_timer_khz(std::uint32_t best, std::uint32_t khz) {
    return std::max(best, khz);
}

// Returns the count from which the timer rings after delta, and not before; counts_per_tick is the ratio of the timer
// to the clock. A delta beyond the counter is cut to it: the handler arms the timer again for the rest.
[[nodiscard]] constexpr std::uint32_t timer_count(lib::Ticks delta, const lib::Ratio& counts_per_tick) {
    const std::uint64_t count = counts_per_tick.of(delta.value);
    return count < kTimerCountMax ? static_cast<std::uint32_t>(count + 1) : kTimerCountMax;
}

// Returns the time until a timer that counts down from `count` rings, rounded down. The rate is not 0.
[[nodiscard]] constexpr lib::Ticks timer_left(std::uint32_t count, std::uint32_t khz, lib::TickRate clock) {
    return {lib::multiply_divide(count, clock.khz, khz)};
}

} // namespace arch::x86_64
