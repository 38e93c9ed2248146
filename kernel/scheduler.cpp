// SPDX-License-Identifier: MIT
// The scheduler's two halves: choosing (levels, shadow chain, accounting) and loading (context switch). They are apart
// because a primitive sometimes has something to record between them.
#include "kernel/scheduler.hpp"

#include "arch/arch.hpp"
#include "kernel/clock.hpp"
#include "kernel/cpu_clock.hpp"
#include "kernel/exception.hpp"
#include "kernel/level.hpp"
#include "kernel/ready_queue.hpp"
#include "kernel/signal.hpp"
#include "kernel/sync/chain.hpp"
#include "kernel/trace_steps.hpp"

#include <utility>

namespace kernel {

namespace {

struct Choice {
    Task& exec;
    Task& exec_shadow;
};

// The first task in the levels' order whose chain of shadows ends in a task that can run. A chain may end in a mutex
// owner that sleeps: its place is parked there, and everybody behind it gets the processor meanwhile. A suspended task
// lends nothing: its place is parked at itself.
Choice choose() {
    for (Level* const level : levels()) {
        while (Task* const task = level->first()) {
            Task& end = chain_end(*task);
            if (end.can_run() && !task->suspended) {
                return {*task, end};
            }
            park_irq_off(*task, task->suspended ? *task : end);
        }
    }
    ASSERT(!"the idle task is always ready");
    __builtin_unreachable();
}

bool runs(const Choice& choice) {
    const Processor& cpu = this_processor();
    return cpu.exec == &choice.exec && cpu.exec_shadow == &choice.exec_shadow;
}

// The choice for which the running task has left the processor, if it is another. Leaving may show that a task used
// more than it declared, and the reaction to that may change the choice.
Choice choose_and_make_way_irq_off() {
    for (;;) {
        carry_out_reactions_irq_off();
        const Choice choice = choose();
        if (runs(choice)) {
            return choice;
        }
        give_up_irq_off();
        if (!reactions_pending_irq_off()) {
            return choice;
        }
    }
}

} // namespace

void interrupt_entered_irq_off() {
    this_processor().in_interrupt = true;
}

void preempt_if_needed_irq_off() {
    Processor& cpu = this_processor();
    cpu.in_interrupt = false;
    if (cpu.loaded == nullptr) {
        return;
    }
    if (cpu.reschedule) {
        cpu.in_interrupts_end = true;
        schedule_irq_off();
        this_processor().in_interrupts_end = false; // where the task goes on
    }
    deliver_upcalls_irq_off();
}

void give_up_irq_off() {
    Processor& cpu = this_processor();
    if (cpu.exec_shadow == nullptr) {
        return;
    }
    Task& running = *cpu.exec_shadow;
    const lib::Ticks elapsed = now() - cpu.dispatched_at;
    trace_points::task_epilogue(running);
    running.cpu_time = running.cpu_time + elapsed;
    cpu_clock_stopped_irq_off(running);
    running.level->epilogue(running, elapsed);
    cpu.exec->level->slot_end(*cpu.exec, elapsed);
    cpu.exec = nullptr;
    cpu.exec_shadow = nullptr;
    cpu.reschedule = true;
}

void scheduler_irq_off() {
    ASSERT(arch::interrupts_disabled());
    Processor& cpu = this_processor();
    const Choice choice = choose_and_make_way_irq_off();
    const bool unchanged = runs(choice);
    cpu.reschedule = false;
    trace_points::task_scheduled(choice.exec_shadow, choice.exec);
    if (unchanged) {
        return;
    }
    cpu.exec = &choice.exec;
    cpu.exec_shadow = &choice.exec_shadow;
    cpu.dispatched_at = now();
    if (!cpu.exec_shadow->job_begun) {
        cpu.exec_shadow->job_begun = true;
        trace_points::task_cycle_begun(*cpu.exec_shadow);
    }
    cpu.exec->level->slot_begin(*cpu.exec);
    cpu.exec_shadow->level->dispatch(*cpu.exec_shadow, cpu.exec == cpu.exec_shadow ? Behalf::own : Behalf::inherited);
    cpu_clock_started_irq_off(*cpu.exec_shadow);
    trace_points::task_dispatched(*cpu.exec_shadow);
}

void context_load_irq_off() {
    Processor& cpu = this_processor();
    Task* const from = cpu.loaded;
    Task* const to = cpu.exec_shadow;
    const bool in_call = !std::exchange(cpu.in_interrupts_end, false); // true also when the task is back here
    if (from == to) {
        if (to->restart) {
            restart_loaded_irq_off(*to);
        }
        return;
    }
    if (to->restart) {
        renew_context_irq_off(*to);
    }
    trace_points::context_leaves();
    cpu.loaded = to;
    trace_points::context_switched(*to);
    arch::switch_context(from != nullptr ? &from->stack_pointer : &cpu.boot, to->stack_pointer);
    trace_points::context_returns(in_call);
}

void schedule_irq_off() {
    Processor& cpu = this_processor();
    if (cpu.in_interrupt || cpu.loaded == nullptr) {
        cpu.reschedule = true;
        return;
    }
    scheduler_irq_off();
    context_load_irq_off();
}

void return_to_boot_irq_off() {
    Processor& cpu = this_processor();
    arch::StackPointer abandoned;
    cpu.loaded = nullptr;
    arch::switch_context(&abandoned, cpu.boot);
    ASSERT(!"an abandoned context was resumed");
    __builtin_unreachable();
}

} // namespace kernel
