// SPDX-License-Identifier: MIT
// The funnel through which every broken promise and every processor exception of a task passes: counted, recorded, and
// answered as the task's Reactions say (reaction.hpp).
//
//   raise --> count --> record --> count:    nothing more
//                                  handler:  an upcall in the task's own context (upcalls.hpp)
//                                  panic:    at once
//                                  abort, kill:  noted; the next scheduling carries it out, when no level and no
//                                                primitive is in the middle of something
#pragma once

#include "kernel/task_object.hpp"

namespace kernel {

// Called with the exception and what exception_handler_set() got, in the task's own context, interrupts on, not nested
// for the same exception. May block, end the job, end the task.
using ExceptionHandler = void (*)(TaskException exception, void* argument);

// Of the calling task, for all exceptions with Reaction::handler, those that came before this call too; null takes it
// away. An abort leaves it in force. Context: task.
void exception_handler_set(ExceptionHandler handler, void* argument);

// For levels, timers and faults; about any task. An abort is for the job in progress now: if that is complete when the
// next scheduling happens, nothing is aborted. Abort and kill are no more than counted for the idle task and the task
// that shuts the system down; a fault of those is a panic. Whoever raises it for the running task outside of an
// interrupt calls schedule_irq_off(), which does not return if the reaction is abort or kill. irq-off.
void raise_exception_irq_off(Task& task, TaskException exception);

// --- the scheduler and the task pool

[[nodiscard]] bool reactions_pending_irq_off();

// Precondition: no level and no primitive is in the middle of something. irq-off.
void carry_out_reactions_irq_off();

// The task is gone. irq-off.
void forget_reaction_irq_off(Task& task);

// Calls the handler of the loaded task. Irq-off before and after, on meanwhile.
void call_exception_handler_irq_off(const Task& task, TaskException exception);

} // namespace kernel
