// SPDX-License-Identifier: MIT
// See blocking.hpp.
#include "kernel/sched/blocking.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

void wake_up(Task& task, IrqOff off) {
    unblock_task(task, off);
    schedule(off);
}

} // namespace

void block_task(Task& task, Wait wait, IrqOff off) {
    if (&task == this_processor().exec_shadow) {
        give_up(off);
    }
    ASSERT(!lib::kChecked || task.state == TaskState::ready);
    task.level->block(task, off);
    task.state = TaskState::waiting;
    task.waits_for = wait;
    task.out = true;
    trace_points::task_blocked(task);
    ASSERT(!lib::kChecked || task.ready_in == nullptr);
}

void delay_task(Task& task, lib::Ticks until, IrqOff off) {
    ASSERT(!lib::kChecked || task.ready_in == nullptr);
    task.state = TaskState::delayed;
    task_timer_post<&wake_up>(task, TaskTimer::delay, until, off);
}

} // namespace kernel
