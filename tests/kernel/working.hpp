// SPDX-License-Identifier: MIT
// Does work that takes a stated time of the processor, for cases whose schedule is reckoned in milliseconds.
#pragma once

#include "tests/kernel/case.hpp"

namespace guest {

// Counts the task's own time, not the time of day. Context: task.
inline void compute(lib::Nanoseconds time) {
    const lib::Ticks end = kernel::task_cpu_time() + kernel::to_ticks(time);
    spin_until([end] { return kernel::task_cpu_time() >= end; });
}

// Is a task whose jobs take this long each, and note when they are done.
template <std::uint64_t Microseconds, char Letter>
void letter_job(void*) {
    for (;;) {
        compute(lib::microseconds(Microseconds));
        order.add(Letter);
        kernel::task_endcycle();
    }
}

} // namespace guest
