// SPDX-License-Identifier: MIT
// The scheduler has two halves: choosing (levels, shadow chain, accounting) and loading (context switch). They are
// apart because a primitive sometimes has something to record between them.
#include "kernel/sched/scheduler.hpp"

#include "arch/arch.hpp"
#include "kernel/sched/chain.hpp"
#include "kernel/sched/cpu_clock.hpp"
#include "kernel/sched/exception.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/ready_queue.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/machine.hpp"
#include "kernel/trace/schedule.hpp"
#include "kernel/trace/task.hpp"

#include <utility>

namespace kernel {

namespace {

constinit TaskLife s_life{};

struct Choice {
    Task& exec;
    Task& exec_shadow;

    friend bool operator==(const Choice& a, const Choice& b) {
        return &a.exec == &b.exec && &a.exec_shadow == &b.exec_shadow;
    }
};

// Returns the task of the first position in the levels' order, or the idle task.
[[gnu::always_inline]] inline Task& first_place(IrqOff) {
    for (const ReadyQueue* const queue : ready_queues()) {
        if (Task* const task = queue->first()) {
            return *task;
        }
    }
    ASSERT(!lib::kChecked || idle_task() != nullptr);
    return *idle_task();
}

// Returns the first position whose chain of shadows ends in a task that can run, beginning with `task`, which has the
// first of all. A chain may end in a mutex owner that sleeps: the position is parked there, and the tasks after it get
// the processor meanwhile. A suspended task lends nothing: its position is parked at itself.
[[gnu::always_inline]] inline Choice choose(Task* task, IrqOff off) {
    for (;;) {
        Task& end = chain_end(*task, off);
        if (end.can_run() && !task->suspended) {
            return {*task, end};
        }
        park(*task, task->suspended ? *task : end, off);
        task = &first_place(off);
    }
}

bool runs(const Choice& choice) {
    const Processor& cpu = this_processor();
    return cpu.exec == &choice.exec && cpu.exec_shadow == &choice.exec_shadow;
}

// Each turn takes one task off the list. The task comes back only for a job or a dispatch that has begun since, or for
// what giving up the processor has shown; so the loop ends. No level and no primitive is in the middle of something
// here.
void carry_out_reactions(IrqOff off) {
    while (reactions_pending(off)) {
        const auto [task, wanted] = next_reaction(off);
        if (wanted.reaction == Reaction::kill) {
            s_life.end(task, off);
        } else if (task.in_job() && task.jobs.completed == wanted.job) {
            s_life.abort(task, wanted.cause, off);
        }
    }
}

// Makes the running task give up the processor. The function is inline, as all steps of a decision are.
[[gnu::always_inline]] inline void epilogue(IrqOff off) {
    Processor& cpu = this_processor();
    Task& running = *cpu.exec_shadow;
    ASSERT(!lib::kChecked || cpu.exec != nullptr);
    const lib::Ticks elapsed = now() - cpu.dispatched_at;
    trace_points::task_epilogue(running);
    running.cpu_time = running.cpu_time + elapsed;
    cpu_clock_stopped(running, off);
    running.level->epilogue(running, elapsed, off);
    cpu.exec->level->slot_end(*cpu.exec, elapsed, off);
    cpu.exec = nullptr;
    cpu.exec_shadow = nullptr;
    cpu.reschedule = true;
}

// Returns the first position, or null if there are reactions, which are carried out first and may change the choice.
[[gnu::always_inline]] inline Task* first_place_now(IrqOff off) {
    return reactions_pending(off) ? nullptr : &first_place(off);
}

// Returns the choice, for which the running task has left the processor if it is another one. Leaving may change the
// choice: it may show that a task used more than it declared, or use up the budget or the slice of a position, which
// then moves. `first` is what first_place_now() returned.
[[gnu::always_inline]] inline Choice pick_next(Task* first, IrqOff off) {
    for (;;) {
        if (first == nullptr) {
            carry_out_reactions(off);
            first = &first_place(off);
        }
        const Choice choice = choose(first, off);
        if (runs(choice) || this_processor().exec == nullptr) {
            return choice;
        }
        const std::uint64_t places = places_given(off);
        epilogue(off);
        if (places_given(off) == places && !reactions_pending(off)) {
            ASSERT(!lib::kChecked || choose(&first_place(off), off) == choice);
            return choice;
        }
        first = nullptr;
    }
}

[[gnu::always_inline]] inline void dispatch(const Choice& choice, IrqOff off) {
    Processor& cpu = this_processor();
    auto& [exec, running] = choice;
    cpu.exec = &exec;
    cpu.exec_shadow = &running;
    cpu.dispatched_at = now();
    if (!running.job_begun) {
        running.job_begun = true;
        trace_points::task_cycle_begun(running);
    }
    exec.level->slot_begin(exec, off);
    running.level->dispatch(running, &exec == &running ? Behalf::own : Behalf::inherited, off);
    cpu_clock_started(running, off);
    trace_points::task_dispatched(running);
}

[[gnu::always_inline]] inline void decide(Task* first, IrqOff off) {
    ASSERT(!lib::kChecked || arch::interrupts_disabled());
    Processor& cpu = this_processor();
    const Choice choice = pick_next(first, off);
    ASSERT(!lib::kChecked || (choice.exec_shadow.can_run() && !choice.exec.suspended && !reactions_pending(off)));
    trace_points::task_scheduled(choice.exec_shadow, choice.exec);
    if (!runs(choice)) {
        dispatch(choice, off);
    }
    cpu.reschedule = false;
    timer_settle(off);
}

[[gnu::always_inline]] inline void load(IrqOff off) {
    Processor& cpu = this_processor();
    Task* const from = cpu.loaded;
    Task* const to = cpu.exec_shadow;
    const bool in_call = !std::exchange(cpu.in_interrupts_end, false); // it is true also when the task is back here
    ASSERT(!lib::kChecked || (to != nullptr && to->can_run() && !cpu.in_interrupt));
    if (from == to) {
        if (to->restart) {
            to->restart = false;
            arch::restart_context(task_stack(to->pid.value), s_life.entry, to);
        }
        return;
    }
    if (to->restart) {
        prepare_context(*to, off);
    }
    trace_points::context_leaves(off);
    cpu.loaded = to;
    trace_points::context_switched(*to);
    arch::switch_context(from != nullptr ? &from->stack_pointer : &cpu.boot, to->stack_pointer);
    trace_points::context_returns(in_call, &clock_untraced, off);
}

// Returns whether the decision changes nothing: the first position of all is that of the running task, which runs in no
// other. This is asked first, and the rest is in functions of their own, so that the usual decision calls nothing and
// saves no register.
[[gnu::always_inline]] inline bool continues(Task* first, IrqOff off) {
    const Processor& cpu = this_processor();
    const bool same = first != nullptr && first == cpu.exec && first == cpu.exec_shadow && is_chain_end(*first, off);
    ASSERT(!lib::kChecked || !same || runs(choose(first, off)));
    return same;
}

[[gnu::always_inline]] inline void decide_to_continue(const Task& running, IrqOff off) {
    trace_points::task_scheduled(running, running);
    this_processor().reschedule = false;
    timer_settle(off);
}

[[gnu::noinline]] void decide_apart(Task* first, IrqOff off) {
    decide(first, off);
}

[[gnu::noinline]] void decide_and_load(Task* first, IrqOff off) {
    decide(first, off);
    load(off);
}

} // namespace

void set_task_life(const TaskLife& life, IrqOff) {
    s_life = life;
}

void preempt_if_needed(IrqOff off) {
    Processor& cpu = this_processor();
    ASSERT(!lib::kChecked || cpu.in_interrupt);
    cpu.in_interrupt = false;
    if (cpu.loaded == nullptr) {
        return;
    }
    if (cpu.reschedule) {
        cpu.in_interrupts_end = true;
        schedule(off);
        this_processor().in_interrupts_end = false; // where the task continues
    }
}

void give_up(IrqOff off) {
    if (this_processor().exec_shadow != nullptr) {
        epilogue(off);
    }
}

void leave_processor(const Task& task, IrqOff off) {
    const Processor& cpu = this_processor();
    if (&task == cpu.exec || &task == cpu.exec_shadow) {
        give_up(off);
    }
}

void dispatch_next(IrqOff off) {
    Task* const first = first_place_now(off);
    if (continues(first, off)) {
        decide_to_continue(*first, off);
    } else {
        decide_apart(first, off);
    }
}

void context_load(IrqOff off) {
    load(off);
}

void prepare_context(Task& task, IrqOff) {
    ASSERT(&task != this_processor().loaded);
    task.restart = false;
    task.stack_pointer = arch::prepare_stack(task_stack(task.pid.value), s_life.entry, &task);
}

void schedule(IrqOff off) {
    Processor& cpu = this_processor();
    if (cpu.in_interrupt || cpu.loaded == nullptr) {
        cpu.reschedule = true;
        return;
    }
    Task* const first = first_place_now(off);
    if (continues(first, off) && first == cpu.loaded && !first->restart) {
        cpu.in_interrupts_end = false;
        decide_to_continue(*first, off);
    } else {
        decide_and_load(first, off);
    }
}

void return_to_boot(IrqOff) {
    Processor& cpu = this_processor();
    arch::StackPointer abandoned;
    cpu.loaded = nullptr;
    arch::switch_context(&abandoned, cpu.boot);
    ASSERT(!"an abandoned context was resumed");
    __builtin_unreachable();
}

} // namespace kernel
