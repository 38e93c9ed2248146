// SPDX-License-Identifier: MIT
// The static table of all tasks. It has a slot for each pid, and the context numbers that trace records carry. Only
// kernel/task/ takes slots and gives them back.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"

#include <span>

namespace kernel {

// Returns every slot; those in the state free are unused.
[[nodiscard]] std::span<Task, kTasksMax> task_table(IrqOff);

// Returns the live task with this pid, or null.
[[nodiscard]] Task* find_task(Pid pid, IrqOff);

// Returns the lowest free slot, or null; never the one whose stack is in use right now, even if its task has just been
// killed. O(1).
[[nodiscard]] Task* free_slot(IrqOff);

// Takes the slot, and sets its pid and context.
void take_slot(Task& slot, IrqOff);

// Gives a slot back: its pid and context may be used again.
void give_slot_back(const Task& task, IrqOff);

} // namespace kernel
