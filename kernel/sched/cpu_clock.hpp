// SPDX-License-Identifier: MIT
// The processor time of a task as a clock, and an alarm on it. The clock stops while others run; what a task
// does in the place of another, whose mutex it owns, counts for the task that really ran.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace kernel {

// Consumed since creation. not_found: no such task. Context: any.
[[nodiscard]] lib::Result<lib::Nanoseconds> task_cpu_clock(Pid pid);

// Raises the signal for the task once, when its clock reaches `at`; at once if that has passed. Replaces the alarm
// there was; `at` 0 takes it away. not_found: no such task. invalid_argument: no signal 1..31, while `at` is not 0.
// Context: any. A scheduling point in task context.
lib::Result<void> task_cpu_alarm(Pid pid, lib::Nanoseconds at, std::uint8_t signo);

// --- the scheduler: the task gets the processor, and has left it. irq-off

namespace detail {

void cpu_alarm_started(Task& task, IrqOff);
void cpu_alarm_stopped(Task& task, IrqOff);

} // namespace detail

inline void cpu_clock_started(Task& task, IrqOff off) {
    if (task.cpu_alarm_signal != 0) {
        detail::cpu_alarm_started(task, off);
    }
}

inline void cpu_clock_stopped(Task& task, IrqOff off) {
    if (task.cpu_alarm_signal != 0) {
        detail::cpu_alarm_stopped(task, off);
    }
}

} // namespace kernel
