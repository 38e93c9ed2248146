// SPDX-License-Identifier: MIT
// The beginning of a task's context, the abort of its job and its end, for the primitives and for the scheduler
// (TaskLife in kernel/sched/scheduler.hpp). Nothing here switches contexts: the caller schedules.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/scheduler.hpp"

namespace kernel {

// Ends any task.
void end_task(Task& task, IrqOff);

// Ends the job in progress, if there is one, where it is: waits are given up, mutexes are freed, and the task's next
// job starts at its entry. It must not be called from within a level's function.
void abort_job(Task& task, TaskException cause, IrqOff);

// run() passes this to set_task_life().
extern const TaskLife kTaskLife;

} // namespace kernel
