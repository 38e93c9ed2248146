// SPDX-License-Identifier: MIT
// The scheduler decides which task runs: it asks the levels in order, follows the chosen task's chain of shadows, and
// gives the processor to the task at its end (kernel/state/processor.hpp). Policy is in the levels; the switch itself
// is in arch.
//
//   schedule:  carry out reactions, choose, the running task gives up, dispatch     then load the chosen context
//
// Every function here needs interrupts off.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/processor.hpp"

namespace kernel {

// Holds the functions of the rooms above that the scheduler needs. They are set once, before the first task is created.
struct TaskLife {
    void (*entry)(void* task);       // where a fresh context begins, interrupts off; it never returns
    void (*end)(Task& task, IrqOff); // ends any task
    void (*abort)(Task& task, TaskException cause, IrqOff); // aborts the job in progress
};

void set_task_life(const TaskLife& life, IrqOff);

// --- for the interrupt funnel

// Must be the first call in every interrupt. From here to preempt_if_needed() nothing switches contexts.
inline void interrupt_entered(IrqOff) {
    this_processor().in_interrupt = true;
}

// Must be called at the end of every interrupt, after the end of interrupt was signalled. It runs another task if one
// should run, and returns when the interrupted task is to continue. It does not return if the job that was interrupted
// is aborted.
void preempt_if_needed(IrqOff);

// --- for the kernel's primitives

// Takes the processor from the running task: accounts for its time and informs its level. It must precede any change
// that takes the task out of a queue. It does nothing if the task has left already.
void give_up(IrqOff);

// Calls give_up() if the task runs, or if the running task runs in its position.
void leave_processor(const Task& task, IrqOff);

// Chooses and dispatches a task, without switching contexts.
void dispatch_next(IrqOff);

// Switches to the context of exec_shadow. It returns when the calling task runs again, and never if the task's job is
// aborted meanwhile: the task then starts at its entry.
void context_load(IrqOff);

// Chooses anew after something has become ready or stopped being so: at once in a task, at its end in an interrupt.
void schedule(IrqOff);

// Prepares the stack of a task whose context was never loaded: it begins at TaskLife::entry.
void prepare_context(Task& task, IrqOff);

// Leaves the running task permanently and returns to the boot context, where run() continues.
[[noreturn]] void return_to_boot(IrqOff);

} // namespace kernel
