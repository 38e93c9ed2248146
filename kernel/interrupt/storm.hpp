// SPDX-License-Identifier: MIT
// The storm governor masks a line that interrupts so often that nothing else would run, and tries it again later. The
// interrupts of each external line are counted by its vector in windows of the clock; the timer, NMIs and whatever else
// does not come through a line are not governed.
//
//   more than kStormLimit in kStormWindow --> masked --> (back-off) --> tried again --> quiet for kBackoffMax: as new
//                                               ^                           |
//                                               +--- storms again: twice ---+   (10 ms, 20 ms, ... 1 s)
//                                                    the back-off
//
// While a line is masked its device is not served. The request of a level-triggered line is served when the line is
// tried again.
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace kernel {

inline constexpr lib::Nanoseconds kStormWindow = lib::milliseconds(10);
inline constexpr std::uint32_t kStormLimit = 500; // that is 50,000 a second
inline constexpr lib::Nanoseconds kBackoffMin = lib::milliseconds(10);
inline constexpr lib::Nanoseconds kBackoffMax = lib::milliseconds(1'000);

// --- for the kernel

namespace detail {

inline constinit std::uint32_t untimed_lines = 0; // those that are masked and for which there was no timer

void count_line(arch::Vector vector, IrqOff);

} // namespace detail

// Counts an interrupt of this vector, and masks its line if it is one too many. It must be called before the end of
// interrupt.
inline void storm_count(arch::Vector vector, IrqOff off) {
    if (arch::is_external(vector) || detail::untimed_lines != 0) {
        detail::count_line(vector, off);
    }
}

// --- primitives

// Returns how often the line of this vector was masked since boot.
// Context: any.
[[nodiscard]] std::uint64_t storms_of(arch::Vector vector);

// Returns how often lines were masked since boot.
// Context: any.
[[nodiscard]] std::uint64_t storms();

} // namespace kernel
