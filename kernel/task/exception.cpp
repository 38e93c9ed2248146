// SPDX-License-Identifier: MIT
// See exception.hpp.
#include "kernel/task/exception.hpp"

#include "kernel/sched/upcalls.hpp"

namespace kernel {

void exception_handler_set(ExceptionHandler handler, void* argument) {
    primitive([&](IrqOff off) { set_exception_handler(calling_task(off), handler, argument, off); });
}

} // namespace kernel
