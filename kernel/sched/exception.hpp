// SPDX-License-Identifier: MIT
// Every broken promise and every processor exception of a task passes through this funnel. It is counted, recorded, and
// answered as the task's Reactions say (task_model.hpp).
//
//   raise --> count --> record --> count:    nothing more
//                                  handler:  an upcall in the task's own context (upcalls.hpp)
//                                  panic:    at once
//                                  abort, kill:  noted; the next scheduling carries it out, when no level and no
//                                                primitive is in the middle of something
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"

namespace kernel {

// Raises an exception of any task, for levels, timers and faults. An abort is for the job in progress now: if that is
// complete when the next scheduling happens, nothing is aborted. Abort and kill are only counted for the idle task and
// the task that shuts the system down; a fault of those is a panic. A caller that raises it for the running task
// outside of an interrupt calls schedule(), which does not return if the reaction is abort or kill.
void raise_exception(Task& task, TaskException exception, IrqOff);

// --- the scheduler and the end of a task

namespace detail {

inline constinit lib::IntrusiveList<Task, ReactionTag> pending_reactions;

} // namespace detail

[[nodiscard]] inline bool reactions_pending(IrqOff) {
    return !detail::pending_reactions.empty();
}

struct NotedReaction {
    Task& task;
    PendingReaction wanted;
};

// Returns the next noted reaction and forgets it. Precondition: reactions are pending.
[[nodiscard]] NotedReaction next_reaction(IrqOff);

// Forgets the reaction that is noted for a task, because the task ends.
void forget_reaction(Task& task, IrqOff);

} // namespace kernel
