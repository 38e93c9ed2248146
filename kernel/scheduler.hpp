// SPDX-License-Identifier: MIT
// Who runs: asks the levels in order, follows the chosen task's chain of shadows, gives the processor to the task at
// its end. Policy is in the levels; the switch itself is in arch.
//
//   exec          the task that the levels chose: whose place in the queue is used
//   exec_shadow   the end of its shadow chain: who really runs; differs from exec while a mutex owner inherits
//
// Every function here needs interrupts off. One processor; everything per-processor is in Processor.
#pragma once

#include "kernel/compensation/processor_clock.hpp"
#include "kernel/task_object.hpp"

namespace kernel {

struct Processor {
    Task* exec = nullptr;        // both null between giving up the processor and the next choice
    Task* exec_shadow = nullptr; // ...
    Task* loaded = nullptr;      // whose context is on the processor; null: the boot context
    lib::Ticks dispatched_at;
    bool reschedule = false;
    bool in_interrupt = false;
    bool in_interrupts_end = false; // an interrupt is over but for the choice of the task to return to
    arch::StackPointer boot;
    compensation::ProcessorClock clock; // with COMPENSATION=ON; else nobody asks it
};

namespace detail {

inline constinit Processor processor;

} // namespace detail

[[nodiscard]] inline Processor& this_processor() {
    return detail::processor;
}

// --- for the interrupt funnel

// First thing in every interrupt: from here to preempt_if_needed_irq_off() nothing switches contexts.
void interrupt_entered_irq_off();

// Last thing in every interrupt, after the end of interrupt was signalled: runs another task if one should run; returns
// when the interrupted task is to go on, after its upcalls. Does not return if the job that was interrupted is aborted.
void preempt_if_needed_irq_off();

// --- for the kernel's primitives

// The running task; null in boot context. In an interrupt: the interrupted one.
[[nodiscard]] inline Task* current_task_irq_off() {
    return this_processor().loaded;
}

// The running task leaves the processor: accounts for its time and tells its level. Must precede any change that takes
// it out of a queue. Does nothing if it has left already.
void give_up_irq_off();

// Chooses and dispatches, without switching contexts.
void scheduler_irq_off();

// Switches to exec_shadow's context; returns when the calling task runs again, and never if its job is aborted
// meanwhile: the task starts at its entry then.
void context_load_irq_off();

// Something became ready or stopped being so: chooses anew, now in task context, at its end in an interrupt.
void schedule_irq_off();

// Leaves the running task for good and goes back to the boot context, where run() goes on.
[[noreturn]] void return_to_boot_irq_off();

} // namespace kernel
