// SPDX-License-Identifier: MIT
// How a task leaves its ready queue to wait for something, and comes back. What it waits for, and who wakes it, is the
// caller's business. All functions irq-off; none switches away: the caller schedules.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

// Takes a ready task out of its queue to wait; if it runs, it gives up first. The caller enters it where it waits.
void block_task(Task& task, Wait wait, IrqOff);

// What block_task() took away is given back.
inline void unblock_task(Task& task, IrqOff off) {
    if (!task.suspended) { // else it stays out until it is resumed
        task.out = false;
        trace_points::task_unblocked(task);
    }
    ASSERT(!lib::kChecked || (task.state != TaskState::free && task.ready_in == nullptr));
    task.level->unblock(task, off);
    ASSERT(!lib::kChecked || task.state == TaskState::ready);
}

// Takes a task that is in no queue through the state delayed: at that time its level unblocks it.
void delay_task(Task& task, lib::Ticks until, IrqOff);

} // namespace kernel
