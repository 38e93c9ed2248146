// SPDX-License-Identifier: MIT
// Declares the static storage of all tasks: the table of tasks, and their stacks.
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"

#include <cstddef>
#include <span>

namespace kernel {

// The table of all tasks has a slot for each pid, and the context numbers that trace records carry. Only kernel/task/
// takes slots and gives them back.

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

// Each task's stack is above a guard page that the composition root unmaps once paging is up: an overflow then faults
// at once instead of overwriting the next stack.
//
//   [guard 0][stack 0........][guard 1][stack 1........] ...      stacks grow down, towards their guard

// Precondition of both functions: index < kTasksMax. Context: any.
[[nodiscard]] std::span<std::byte> task_stack(std::size_t index);
[[nodiscard]] std::span<std::byte> guard_page(std::size_t index);

} // namespace kernel
