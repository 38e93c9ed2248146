// SPDX-License-Identifier: MIT
// The kernel's time is the machine's time stamp counter, in ticks inside the kernel and in nanoseconds at its edge.
// Absolute times count from the counter's own zero. Context: any.
#pragma once

#include "arch/arch.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "lib/units.hpp"

namespace kernel {

// Returns the present time.
[[nodiscard]] inline lib::Ticks now() {
    if constexpr (kCompensationBuilt) {
        return compensation::now();
    } else {
        return arch::timestamp();
    }
}

// Converts a length of time, and rounds down.
[[nodiscard]] inline lib::Ticks to_ticks(lib::Nanoseconds time) {
    return arch::tick_conversion().to_ticks(time);
}

// Converts a length of time, and rounds down.
[[nodiscard]] inline lib::Nanoseconds to_nanoseconds(lib::Ticks time) {
    return arch::tick_conversion().to_nanoseconds(time);
}

// Converts a length of time, and rounds up. It is used for periods, so that no share of the processor grows by
// rounding.
[[nodiscard]] inline lib::Ticks to_ticks_up(lib::Nanoseconds time) {
    const lib::Ticks down = to_ticks(time);
    return to_nanoseconds(down) < time ? down + lib::Ticks{1} : down;
}

// Returns the absolute time that is `time` from now.
[[nodiscard]] inline lib::Ticks after(lib::Nanoseconds time) {
    return now() + to_ticks(time);
}

} // namespace kernel
