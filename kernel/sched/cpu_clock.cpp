// SPDX-License-Identifier: MIT
// A timer of the task watches the alarm while the task runs. The alarm can be due at two moments: at the timer's
// interrupt, and when the task leaves the processor.
#include "kernel/sched/cpu_clock.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"

namespace kernel {

namespace {

lib::Ticks clock_of(const Task& task) {
    const Processor& cpu = this_processor();
    const bool runs = &task == cpu.exec_shadow;
    return runs ? task.cpu_time + (now() - cpu.dispatched_at) : task.cpu_time;
}

// Returns the first tick at which the clock, read in nanoseconds, shows `at`.
lib::Ticks tick_of(lib::Nanoseconds at) {
    const lib::Ticks tick = to_ticks(at);
    return to_nanoseconds(tick) < at ? tick + lib::Ticks{1} : tick;
}

void ring(Task& task, IrqOff off) {
    const std::uint8_t signo = task.cpu_alarm_signal;
    task.cpu_alarm_signal = 0;
    raise_signal(task, signo, off);
}

void on_alarm(Task& task, IrqOff off) {
    ring(task, off);
    schedule(off);
}

} // namespace

lib::Result<lib::Nanoseconds> task_cpu_clock(Pid pid) {
    const IrqGuard off;
    const Task* const task = find_task(pid, off);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    return to_nanoseconds(clock_of(*task));
}

lib::Result<void> task_cpu_alarm(Pid pid, lib::Nanoseconds at, std::uint8_t signo) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        Task* const task = find_task(pid, off);
        if (task == nullptr) {
            return lib::Error::not_found;
        }
        if (at.value != 0 && (signo < kSignalMin || signo > kSignalMax)) {
            return lib::Error::invalid_argument;
        }
        task_timer_delete(pid, TaskTimer::cpu_alarm, off);
        task->cpu_alarm_signal = at.value != 0 ? signo : std::uint8_t{0};
        task->cpu_alarm_at = tick_of(at);
        if (task->cpu_alarm_signal == 0) {
            return {};
        }
        if (clock_of(*task) >= task->cpu_alarm_at) {
            ring(*task, off);
            schedule(off);
        } else if (task == this_processor().exec_shadow) {
            task_timer_post<&on_alarm>(*task, TaskTimer::cpu_alarm, now() + (task->cpu_alarm_at - clock_of(*task)),
                                       off);
        }
        return {};
    });
}

void detail::cpu_alarm_started(Task& task, IrqOff off) {
    task_timer_post<&on_alarm>(task, TaskTimer::cpu_alarm, now() + (task.cpu_alarm_at - task.cpu_time), off);
}

void detail::cpu_alarm_stopped(Task& task, IrqOff off) {
    task_timer_delete(task.pid, TaskTimer::cpu_alarm, off);
    if (task.cpu_time >= task.cpu_alarm_at) {
        ring(task, off);
    }
}

} // namespace kernel
