// SPDX-License-Identifier: MIT
// Holds the data of one processor: which task runs on whose behalf, and whether an interrupt is being served.
// kernel/sched/scheduler.hpp decides. There is one processor: this_processor() is the only one.
//
//   exec          the task that the levels chose: whose position in the queue is used
//   exec_shadow   the end of its shadow chain: the task that really runs; another while a mutex owner inherits
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/units.hpp"

namespace kernel {

struct Processor {
    Task* exec = nullptr;        // both are null between giving up the processor and the next choice
    Task* exec_shadow = nullptr; // the task that really runs
    Task* loaded = nullptr;      // its context is on the processor; null: the boot context
    lib::Ticks dispatched_at;
    bool reschedule = false;
    bool in_interrupt = false;
    bool in_interrupts_end = false; // an interrupt is over except for the choice of the task to return to
    arch::StackPointer boot;
};

namespace detail {

inline constinit Processor processor;

} // namespace detail

[[nodiscard]] inline Processor& this_processor() {
    return detail::processor;
}

// Returns the running task, or null in boot context. In an interrupt it is the interrupted task.
[[nodiscard]] inline Task* current_task(IrqOff) {
    return this_processor().loaded;
}

// Returns the task that called a primitive. Precondition: task context.
[[nodiscard]] inline Task& calling_task(IrqOff) {
    Task* const self = this_processor().loaded;
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    return *self;
}

} // namespace kernel
