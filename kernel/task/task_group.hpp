// SPDX-License-Identifier: MIT
// Tasks that belong together: created all or none, activated for one instant, ended together. A group is the number in
// TaskOptions::group; 0 is no group.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/task/task.hpp"

#include <cstddef>
#include <span>

namespace kernel {

// Creates every task, in this order, or none: what was created before a refusal is ended again. pids[i] belongs to
// options[i]. Errors as task_create(), and invalid_argument: fewer pids than options. Context: any.
lib::Result<void> task_group_create(std::span<const TaskOptions> options, std::span<Pid> pids);

// Activates all sleeping tasks of the group for one instant: their releases coincide, and only then the processor is
// given away. Returns how many. invalid_argument: group 0. not_found: no task has this group. Context: any. A
// scheduling point in task context.
lib::Result<std::size_t> task_group_activate(std::uint16_t group);

// As task_group_activate, for that time; see task_activate_at().
lib::Result<std::size_t> task_group_activate_at(std::uint16_t group, lib::Ticks at);

// Ends all tasks of the group but those that task_kill() refuses; the caller, if it is one of them, last: then this
// does not return. Returns how many. invalid_argument: group 0. not_found: no task has this group. Context: any.
lib::Result<std::size_t> task_group_kill(std::uint16_t group);

// How many tasks have this group. Context: any.
[[nodiscard]] std::size_t task_group_size(std::uint16_t group);

// --- for the beginning and the end of a task, which its group has from then on, and no longer. O(log n)

void join_group(Task& task, IrqOff);
void leave_group(Task& task, IrqOff);

} // namespace kernel
