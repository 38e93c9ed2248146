// SPDX-License-Identifier: MIT
// Who runs: asks the levels in order, follows the chosen task's chain of shadows, gives the processor to the task at
// its end (kernel/state/processor.hpp). Policy is in the levels; the switch itself is in arch.
//
//   schedule:  carry out reactions, choose, the running task gives up, dispatch     then load the chosen context
//
// Every function here needs interrupts off.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/processor.hpp"

namespace kernel {

// What the scheduler needs of the rooms above it: set once, before the first task is created.
struct TaskLife {
    void (*entry)(void* task);       // where a fresh context begins, interrupts off; never returns
    void (*end)(Task& task, IrqOff); // a kill
    void (*abort)(Task& task, TaskException cause, IrqOff); // of the job in progress
};

void set_task_life(const TaskLife& life, IrqOff);

// --- for the interrupt funnel

// First thing in every interrupt: from here to preempt_if_needed() nothing switches contexts.
inline void interrupt_entered(IrqOff) {
    this_processor().in_interrupt = true;
}

// At the end of every interrupt, after the end of interrupt was signalled: runs another task if one should run; returns
// when the interrupted task is to continue. Does not return if the job that was interrupted is aborted.
void preempt_if_needed(IrqOff);

// --- for the kernel's primitives

// The running task leaves the processor: accounts for its time and informs its level. Must precede any change that
// takes it out of a queue. Does nothing if it has left already.
void give_up(IrqOff);

// give_up() if the task runs, or if the running task runs in its position.
void leave_processor(const Task& task, IrqOff);

// Chooses and dispatches, without switching contexts.
void dispatch_next(IrqOff);

// Switches to exec_shadow's context; returns when the calling task runs again, and never if its job is aborted
// meanwhile: the task starts at its entry then.
void context_load(IrqOff);

// Something became ready or stopped being so: chooses anew, now in task context, at its end in an interrupt.
void schedule(IrqOff);

// The stack of a task whose context was never loaded: it begins at TaskLife::entry.
void prepare_context(Task& task, IrqOff);

// Leaves the running task permanently and goes back to the boot context, where run() continues.
[[noreturn]] void return_to_boot(IrqOff);

} // namespace kernel
