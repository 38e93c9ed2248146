// SPDX-License-Identifier: MIT
// Offers the processor time of a task as a clock, and an alarm on it. The clock stops while other tasks run. Work that
// a task does in the position of another one, whose mutex it owns, counts for the task that really ran.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace kernel {

// Returns the processor time that the task has consumed since its creation.
// not_found: no task has this pid.
// Context: any.
[[nodiscard]] lib::Result<lib::Nanoseconds> task_cpu_clock(Pid pid);

// Raises the signal for the task once, when its clock reaches `at`, and at once if that has passed. It replaces the
// alarm that was set; an `at` of 0 only removes that.
// signo: 1 to 31; it is ignored if `at` is 0.
// not_found: no task has this pid.
// invalid_argument: the signal is outside its range.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_cpu_alarm(Pid pid, lib::Nanoseconds at, std::uint8_t signo);

// --- for the kernel: the scheduler calls these when a task gets the processor, and when it has left it

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
