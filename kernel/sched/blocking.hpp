// SPDX-License-Identifier: MIT
// A task leaves its ready queue here to wait for something, and comes back. The caller decides what the task waits for
// and who wakes it. All functions need interrupts off, and none switches contexts: the caller schedules.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

// Takes a ready task out of its queue to wait. A task that runs gives up the processor first. The caller enters the
// task where it waits.
void block_task(Task& task, Wait wait, IrqOff);

// Puts a task that block_task() took out of its queue back into it.
inline void unblock_task(Task& task, IrqOff off) {
    if (!task.suspended) { // a suspended task stays out until it is resumed
        task.out = false;
        trace_points::task_unblocked(task);
    }
    ASSERT(!lib::kChecked || (task.state != TaskState::free && task.ready_in == nullptr));
    task.level->unblock(task, off);
    ASSERT(!lib::kChecked || task.state == TaskState::ready);
}

// Delays a task that is in no queue: its level unblocks it at that time.
void delay_task(Task& task, lib::Ticks until, IrqOff);

} // namespace kernel
