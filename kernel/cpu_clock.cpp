// SPDX-License-Identifier: MIT
// See cpu_clock.hpp. A timer of the task watches the alarm while the task runs; its interrupt and the task's leaving of
// the processor are the two moments at which the alarm can be due.
#include "kernel/cpu_clock.hpp"

#include "kernel/clock.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/signal.hpp"
#include "kernel/timer.hpp"

namespace kernel {

namespace {

lib::Ticks clock_of(const Task& task) {
    const Processor& cpu = this_processor();
    const bool runs = &task == cpu.exec_shadow;
    return runs ? task.cpu_time + (now() - cpu.dispatched_at) : task.cpu_time;
}

// The first tick at which the clock, read in nanoseconds, shows `at`.
lib::Ticks tick_of(lib::Nanoseconds at) {
    const lib::Ticks tick = to_ticks(at);
    return to_nanoseconds(tick) < at ? tick + lib::Ticks{1} : tick;
}

void ring_irq_off(Task& task) {
    const std::uint8_t signo = task.cpu_alarm_signal;
    task.cpu_alarm_signal = 0;
    raise_signal_irq_off(task, signo);
}

void on_alarm(void* argument) {
    ring_irq_off(*static_cast<Task*>(argument));
    schedule_irq_off();
}

} // namespace

lib::Result<lib::Nanoseconds> task_cpu_clock(Pid pid) {
    const IrqGuard guard;
    const Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    return to_nanoseconds(clock_of(*task));
}

lib::Result<void> task_cpu_alarm(Pid pid, lib::Nanoseconds at, std::uint8_t signo) {
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    if (at.value != 0 && (signo < kSignalMin || signo > kSignalMax)) {
        return lib::Error::invalid_argument;
    }
    task_timer_delete_irq_off(pid, TaskTimer::cpu_alarm);
    task->cpu_alarm_signal = at.value != 0 ? signo : std::uint8_t{0};
    task->cpu_alarm_at = tick_of(at);
    if (task->cpu_alarm_signal == 0) {
        return {};
    }
    if (clock_of(*task) >= task->cpu_alarm_at) {
        ring_irq_off(*task);
        schedule_irq_off();
    } else if (task == this_processor().exec_shadow) {
        task_timer_post_irq_off(pid, TaskTimer::cpu_alarm, now() + (task->cpu_alarm_at - clock_of(*task)), &on_alarm);
    }
    return {};
}

void cpu_clock_started_irq_off(const Task& task) {
    if (task.cpu_alarm_signal != 0) {
        task_timer_post_irq_off(task.pid, TaskTimer::cpu_alarm, now() + (task.cpu_alarm_at - task.cpu_time), &on_alarm);
    }
}

void cpu_clock_stopped_irq_off(Task& task) {
    if (task.cpu_alarm_signal == 0) {
        return;
    }
    task_timer_delete_irq_off(task.pid, TaskTimer::cpu_alarm);
    if (task.cpu_time >= task.cpu_alarm_at) {
        ring_irq_off(task);
    }
}

} // namespace kernel
