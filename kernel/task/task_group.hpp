// SPDX-License-Identifier: MIT
// Tasks of a group belong together: they are created all or none, activated for one instant, and ended together. A
// group is the number in TaskOptions::group; 0 is no group.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/task/task.hpp"

#include <cstddef>
#include <span>

namespace kernel {

// Creates every task, in this order, or none: the tasks that were created before an error are ended again. pids[i] gets
// the number of the task with options[i].
// invalid_argument: there are fewer pids than options, or task_create() returns this error for one of the tasks.
// unsupported: no level accepts the model of one of the tasks.
// refused: admission control cannot guarantee one of the tasks.
// not_found: the server of a ServedModel does not exist.
// no_space: kTasksMax tasks would be exceeded.
// Context: any.
lib::Result<void> task_group_create(std::span<const TaskOptions> options, std::span<Pid> pids);

// Activates all sleeping tasks of the group for one instant: their releases coincide, and the processor is given away
// only after all of them. Returns how many tasks were activated.
// group: 1 to 65535.
// invalid_argument: the group is 0.
// not_found: no task has this group.
// Context: any. It is a scheduling point in task context.
lib::Result<std::size_t> task_group_activate(std::uint16_t group);

// Activates all sleeping tasks of the group for that time (task_activate_at()). Returns how many tasks were activated.
// group: 1 to 65535.
// invalid_argument: the group is 0.
// not_found: no task has this group.
// Context: any. It is a scheduling point in task context.
lib::Result<std::size_t> task_group_activate_at(std::uint16_t group, lib::Ticks at);

// Ends all tasks of the group but those that task_kill() refuses, and returns how many it ended. It does not return if
// the caller is one of them.
// group: 1 to 65535.
// invalid_argument: the group is 0.
// not_found: no task has this group.
// Context: any. It is a scheduling point in task context.
lib::Result<std::size_t> task_group_kill(std::uint16_t group);

// Returns how many tasks have this group.
// group: 0 to 65535; no task has group 0.
// Context: any.
[[nodiscard]] std::size_t task_group_size(std::uint16_t group);

// --- for the kernel: the beginning and the end of a task

// Add the task to its group, or remove it. O(log n).
void join_group(Task& task, IrqOff);
void leave_group(Task& task, IrqOff);

} // namespace kernel
