// SPDX-License-Identifier: MIT
// The static table of all tasks: a slot for each pid, and the context numbers that trace records carry. Only
// kernel/task/ takes slots and gives them back.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"

#include <span>

namespace kernel {

// Every slot; those in state free are unused.
[[nodiscard]] std::span<Task, kTasksMax> task_table(IrqOff);

// The live task with this pid, or null.
[[nodiscard]] Task* find_task(Pid pid, IrqOff);

// The lowest free slot, or null; never the one whose stack is in use right now, even if its task has just been killed.
// O(1).
[[nodiscard]] Task* free_slot(IrqOff);

// Sets pid and context. The slot counts as used from here on.
void take_slot(Task& slot, IrqOff);

// Pid and context may be used again.
void give_slot_back(const Task& task, IrqOff);

} // namespace kernel
