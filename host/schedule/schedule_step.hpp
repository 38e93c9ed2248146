// SPDX-License-Identifier: MIT
// Applies each record to the schedule. docs/events.md describes what the kernel does when it writes each record. The
// frequent records are handled here, inlined where the code is a constant (host/trace/event.hpp); rare cases are in
// schedule.cpp.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"

#include <utility>

namespace host::schedule {

// Precondition: the event is of our table, and sound.
[[gnu::always_inline]] inline std::span<const Change> Schedule::follow(const trace::Event& event, std::uint8_t code) {
    if (!std::exchange(m_forgot, false)) [[likely]] {
        m_changed = 0;
    }
    switch (code) {
    case trace::kCodeOf<"context_switch">:
        if (event.par2 == trace::kLeaverRests && trace::is_foreign(event)) [[unlikely]] {
            rest_leaver(event);
        }
        switch_to(event.cpu, event.par1);
        break;
    case trace::kCodeOf<"inheritance">:
        m_tasks[event.par1].heir = true;
        add({.kind = Change::Kind::inherits, .context = event.par1, .other = event.par2});
        break;
    case trace::kCodeOf<"interrupt_start">:
        begin_interrupt(at(event.cpu), event.par1);
        break;
    case trace::kCodeOf<"interrupt_end">:
        end_interrupt(at(event.cpu), event.par1);
        break;
    case trace::kCodeOf<"blackout_start">:
    case trace::kCodeOf<"blackout_end">:
    case trace::kCodeOf<"trace_start">:
        follow_gap(event);
        break;
    default:
        follow_task(event, code);
        break;
    }
    return changes();
}

[[gnu::always_inline]] inline void Schedule::follow_task(const trace::Event& event, std::uint8_t code) {
    const std::uint32_t context = event.par1;
    switch (code) {
    case trace::kCodeOf<"task_schedule">:
        decide(at(event.cpu), context, event.par2);
        break;
    case trace::kCodeOf<"task_dispatch">: {
        Processor& here = at(event.cpu);
        here.dispatched = context;
        here.place = here.chosen == context ? here.chosen_place : context;
        break;
    }
    // The task that leaves a processor is recorded before the one that gets it. So the running task becomes known even
    // if the trace begins in the middle of its execution.
    case trace::kCodeOf<"task_epilogue">:
        if (at(event.cpu).running == kUnknownContext) {
            run(event.cpu, context);
        }
        break;
    case trace::kCodeOf<"task_create">:
        task(context);
        end(context, Change::Kind::created, TaskState::unknown);
        break;
    case trace::kCodeOf<"task_end">:
        task(context);
        end(context, Change::Kind::ended, TaskState::ended);
        break;
    // A periodic task may be activated long before its first release.
    case trace::kCodeOf<"task_activate">:
        if (state(context) == TaskState::unknown) {
            wait(context, TaskState::job, 0);
        }
        break;
    case trace::kCodeOf<"job_release">:
        wake(context);
        begin_job(context);
        break;
    case trace::kCodeOf<"task_unblock">:
        unblock(context);
        break;
    case trace::kCodeOf<"task_block">:
        wait(context, wait_state_of(event.par2), event.par2 & 0xFFFF);
        break;
    case trace::kCodeOf<"task_end_cycle">:
    case trace::kCodeOf<"task_disable">:
    case trace::kCodeOf<"job_abort">:
        wait(context, TaskState::job, 0);
        end_job(context);
        break;
    // If the task has a job, task_disable follows and ends the job; a late end is reported between the two.
    case trace::kCodeOf<"task_sleep">:
        wait(context, TaskState::job, 0);
        break;
    default:
        follow_mutex(event, code);
        break;
    }
}

[[gnu::always_inline]] inline void Schedule::follow_mutex(const trace::Event& event, std::uint8_t code) {
    switch (code) {
    case trace::kCodeOf<"set_mutex_block">:
        block_on_mutex(event.par1, event.par2);
        break;
    case trace::kCodeOf<"set_mutex_acquire">:
        acquire(event.par1, event.par2);
        break;
    case trace::kCodeOf<"set_mutex_timeout">:
        if (state(event.par1) == TaskState::mutex) {
            wake(event.par1);
        } else {
            take_back(event.par1);
        }
        break;
    case trace::kCodeOf<"set_mutex_unlock">:
    case trace::kCodeOf<"set_mutex_owner_died">:
        unlock(event.par2);
        break;
    default:
        break;
    }
}

// Notes that the task no longer lends its place to another one.
[[gnu::always_inline]] inline void Schedule::take_back(std::uint32_t context) {
    if (Task& task = m_tasks[context]; std::exchange(task.lends, false)) {
        m_lenders.erase(task.lender);
    }
}

[[gnu::always_inline]] inline void Schedule::wake(std::uint32_t context) {
    Task& woken = task(context);
    const TaskState before = std::exchange(woken.state, TaskState::ready);
    take_back(context);
    if (before != TaskState::ready) {
        add({.kind = Change::Kind::woken, .state = TaskState::ready, .before = before, .context = context});
    }
}

// A task that is suspended still waits for its mutex, so it does not take its place back.
[[gnu::always_inline]] inline void Schedule::wait(std::uint32_t context, TaskState state, std::uint32_t object) {
    if (state != TaskState::suspended) {
        take_back(context);
    }
    change_to_wait(context, state, object);
}

[[gnu::always_inline]] inline void Schedule::change_to_wait(std::uint32_t context, TaskState state,
                                                            std::uint32_t object) {
    const TaskState before = std::exchange(task(context).state, state);
    const std::uint32_t other = state == TaskState::mutex ? holder(object) : kUnknownContext;
    add({.kind = Change::Kind::waits,
         .state = state,
         .before = before,
         .context = context,
         .other = other,
         .object = object});
}

[[gnu::always_inline]] inline void Schedule::begin_job(std::uint32_t context) {
    end_job(context);
    task(context).job = true;
    add({.kind = Change::Kind::job_began, .context = context});
}

[[gnu::always_inline]] inline void Schedule::end_job(std::uint32_t context, TaskState how) {
    if (std::exchange(m_tasks[context].job, false)) {
        add({.kind = Change::Kind::job_ended, .state = how, .context = context});
    }
}

// No task runs on two processors: if another processor seems to run it, a record of that processor is missing.
[[gnu::always_inline]] inline void Schedule::run(std::uint16_t cpu, std::uint32_t context) {
    Task& of = task(context);
    if (running(of.cpu) == context) {
        m_processors[of.cpu].running = kUnknownContext;
    }
    of.cpu = cpu;
    at(cpu).running = context;
}

// The task that gets the processor was ready, even if the record of it is missing.
[[gnu::always_inline]] inline void Schedule::switch_to(std::uint16_t cpu, std::uint32_t context) {
    Processor& here = at(cpu);
    const std::uint32_t switched_to = std::exchange(here.switched_to, context);
    // `running` is unknown if another processor has run that task since; the records of this processor still form a
    // chain.
    const std::uint32_t before = here.running != kUnknownContext ? here.running : switched_to;
    if (here.running == context) {
        return;
    }
    run(cpu, context);
    here.place = here.dispatched == context ? here.place : context;
    if (state(context) != TaskState::ready) {
        wake(context);
    }
    const TaskState left = state(before);
    add({.kind = Change::Kind::switched,
         .state = left == TaskState::unknown ? TaskState::ready : left,
         .context = context,
         .other = before});
}

[[gnu::always_inline]] inline void Schedule::decide(Processor& here, std::uint32_t shadow, std::uint32_t exec) {
    here.chosen = shadow;
    here.chosen_place = exec;
    // If the two differ, the record `inheritance` follows.
    if (shadow == exec && std::exchange(m_tasks[shadow].heir, false)) {
        add({.kind = Change::Kind::returns, .context = shadow});
    }
}

[[gnu::always_inline]] inline void Schedule::begin_interrupt(Processor& here, std::uint32_t vector) {
    if (here.depth == Processor::kNestedMax) {
        return;
    }
    here.vectors[here.depth++] = static_cast<std::uint16_t>(vector);
    add({.kind = Change::Kind::interrupt_began, .object = vector});
}

// An end without a begin is ignored: the begin is before the trace or in a gap. Missing ends of nested handlers are
// added.
[[gnu::always_inline]] inline void Schedule::end_interrupt(Processor& here, std::uint32_t vector) {
    std::uint32_t position = here.depth;
    while (position > 0 && here.vectors[position - 1] != static_cast<std::uint16_t>(vector)) {
        --position;
    }
    while (position > 0 && here.depth >= position) {
        --here.depth;
        add({.kind = Change::Kind::interrupt_ended, .object = here.vectors[here.depth]});
    }
}

// An unlock hands the mutex to no task: all tasks that wait for it may try again.
[[gnu::always_inline]] inline void Schedule::unlock(std::uint32_t mutex_id) {
    if (mutex_id < m_holders.size()) {
        m_holders[mutex_id] = kUnknownContext;
    }
    if (!m_lenders.empty()) {
        wake_lenders(mutex_id);
    }
}

} // namespace host::schedule
