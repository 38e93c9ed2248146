// SPDX-License-Identifier: MIT
// A task's own handler of its exceptions: what Reaction::handler calls (kernel/state/reaction.hpp).
#pragma once

#include "kernel/state/upcalls.hpp"
#include "kernel/task/task.hpp"

namespace kernel {

// Of the calling task, for all exceptions with Reaction::handler, those that came before this call too; null takes it
// away. An abort leaves it in force. Context: task.
void exception_handler_set(ExceptionHandler handler, void* argument);

} // namespace kernel
