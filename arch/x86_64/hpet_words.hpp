// SPDX-License-Identifier: MIT
// Encodes the words of the HPET's registers: its rate, its timers, and the configuration that makes one of them a line
// of the I/O APIC. No register is accessed. Source: IA-PC HPET specification 1.0a, sections 2.3.4, 2.3.8. Context: any.
#pragma once

#include "lib/result.hpp"

#include <bit>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint64_t kHpetRegTimers = 0x100; // 32 bytes each
inline constexpr std::uint64_t kHpetTimerBytes = 0x20;
inline constexpr std::uint64_t kHpetRegComparator = 0x08; // after the timer's configuration
inline constexpr std::uint64_t kHpetInterruptOn = 1U << 2;

// Returns the rate in kHz. The capabilities have the period in femtoseconds in their upper half. not_found: it is
// outside 0.1 .. 100 ns, so no device answers there.
[[nodiscard]] constexpr lib::Result<std::uint32_t> hpet_khz(std::uint64_t capabilities) {
    constexpr std::uint64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;
    constexpr std::uint64_t kPeriodMin = 100'000;
    constexpr std::uint64_t kPeriodMax = 100'000'000; // the specification's upper bound
    const std::uint64_t period = capabilities >> 32;
    if (period < kPeriodMin || period > kPeriodMax) {
        return lib::Error::not_found;
    }
    return static_cast<std::uint32_t>(kFemtosecondsPerMillisecond / period);
}

// Returns the number of timers that the capabilities state, at least 1.
[[nodiscard]] constexpr std::uint64_t hpet_timers(std::uint64_t capabilities) {
    return ((capabilities >> 8) & 0x1F) + 1;
}

// Returns the least global line that a timer of 64 bits can have, according to its configuration word. not_found: it
// has 32 bits or no such line. Lines 0 and 2 belong to the PIT.
[[nodiscard]] constexpr lib::Result<std::uint32_t> hpet_timer_line(std::uint64_t able) {
    constexpr std::uint64_t kWide = 1U << 5;
    constexpr std::uint64_t kLinesOfThePit = 0x05;
    const std::uint64_t lines = (able >> 32) & ~kLinesOfThePit;
    if ((able & kWide) == 0 || lines == 0) {
        return lib::Error::not_found;
    }
    return static_cast<std::uint32_t>(std::countr_zero(lines));
}

// Returns the configuration of a timer of 64 bits that fires once, with an edge on this line.
[[nodiscard]] constexpr std::uint64_t hpet_timer_on(std::uint32_t line) {
    return (std::uint64_t{line} << 9) | kHpetInterruptOn;
}

} // namespace arch::x86_64
