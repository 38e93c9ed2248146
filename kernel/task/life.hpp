// SPDX-License-Identifier: MIT
// How a task's context begins, how its job is aborted and how it ends, for the primitives and for the scheduler
// (TaskLife in kernel/sched/scheduler.hpp). Nothing here switches away: the caller schedules.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/scheduler.hpp"

namespace kernel {

// Ends any task.
void end_task(Task& task, IrqOff);

// The job in progress, if there is one, ends where it is: waits are given up, mutexes are freed, and the task's next
// job starts at its entry. Not from within a level's function.
void abort_job(Task& task, TaskException cause, IrqOff);

// What run() gives to set_task_life().
extern const TaskLife kTaskLife;

} // namespace kernel
