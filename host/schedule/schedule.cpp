// SPDX-License-Identifier: MIT
// What each record changes. What a kernel did when it wrote one is in docs/events.md.
#include "host/schedule/schedule.hpp"

#include "host/trace/foreign.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/unit_words.hpp"

#include <algorithm>
#include <utility>

namespace host::schedule {

namespace {

using enum TaskState;
using Kind = Change::Kind;
using trace::kCodeOf;
using tracer::Family;

constexpr std::uint32_t kMutexIds = 0x1'0000; // greater ones are damage

// The waits of TaskState are in the order of their numbers in records.
static_assert(static_cast<int>(mutex) - static_cast<int>(job) == static_cast<int>(lib::WaitKind::mutex));

TaskState wait_state(std::uint32_t word) {
    // Older records do not say for what.
    const lib::WaitKind kind = tracer::wait_kind(word).value_or(lib::WaitKind::suspended);
    return static_cast<TaskState>(static_cast<int>(job) + static_cast<int>(kind));
}

bool leaver_rests(const trace::Event& event) {
    return event.par2 == trace::kLeaverRests && trace::is_foreign(event);
}

} // namespace

std::string_view state_name(TaskState state) {
    static constexpr std::array<std::string_view, 12> kNames = {"unknown",   "ready",     "next job", "semaphore",
                                                                "delay",     "condition", "receive",  "send",
                                                                "suspended", "signal",    "mutex",    "ended"};
    static_assert(kNames.size() == static_cast<std::size_t>(ended) + 1);
    return kNames[static_cast<std::size_t>(state)];
}

Schedule::Schedule()
    : m_tasks(kContexts + 1) {}

void Schedule::add_processors(std::uint16_t cpu) {
    m_processors.resize(std::size_t{cpu} + 1);
}

void Schedule::begin_task(std::uint32_t context) {
    m_tasks[context].known = true;
    m_known.push_back(context);
}

std::span<const Change> Schedule::follow(const trace::Event& event) {
    if (event.row == nullptr || !event.is_sound()) {
        return {};
    }
    if (!std::exchange(m_forgot, false)) {
        m_changed = 0;
    }
    switch (event.code) {
    case kCodeOf<"context_switch">:
        if (const std::uint32_t leaver = running(event.cpu);
            leaver != event.par1 && leaver != kUnknownContext && leaver_rests(event)) {
            wait(leaver, job, 0);
        }
        switch_to(event.cpu, event.par1);
        break;
    case kCodeOf<"inheritance">:
        m_tasks[event.par1].heir = true;
        add({.kind = Kind::inherits, .context = event.par1, .other = event.par2});
        break;
    case kCodeOf<"interrupt_start">:
        begin_interrupt(at(event.cpu), event.par1);
        break;
    case kCodeOf<"interrupt_end">:
        end_interrupt(at(event.cpu), event.par1);
        break;
    case kCodeOf<"blackout_start">:
        begin_gap(at(event.cpu));
        break;
    case kCodeOf<"blackout_end">:
        lose(at(event.cpu));
        add({.kind = Kind::lost, .object = event.par2});
        break;
    case kCodeOf<"trace_start">:
        if (running(event.cpu) != kUnknownContext) { // tracing was off for a while
            begin_gap(at(event.cpu));
            forget_tasks();
        }
        break;
    default:
        event.row->family() == Family::mutex ? follow_mutex(event) : follow_task(event);
        break;
    }
    return changes();
}

void Schedule::follow_task(const trace::Event& event) {
    const std::uint32_t context = event.par1;
    switch (event.code) {
    case kCodeOf<"task_schedule">:
        decide(at(event.cpu), context, event.par2);
        break;
    case kCodeOf<"task_dispatch">: {
        Processor& here = at(event.cpu);
        here.dispatched = context;
        here.place = here.chosen == context ? here.chosen_place : context;
        break;
    }
    // The task that leaves a processor is recorded before the one that gets it: useful if the trace begins in the
    // middle.
    case kCodeOf<"task_epilogue">:
        if (at(event.cpu).running == kUnknownContext) {
            run(event.cpu, context);
        }
        break;
    case kCodeOf<"task_create">:
        task(context);
        end(context, Kind::created, unknown);
        break;
    case kCodeOf<"task_end">:
        task(context);
        end(context, Kind::ended, ended);
        break;
    // A periodic task is activated long before its first release.
    case kCodeOf<"task_activate">:
        if (state(context) == unknown) {
            wait(context, job, 0);
        }
        break;
    case kCodeOf<"job_release">:
        wake(context);
        begin_job(context);
        break;
    case kCodeOf<"task_unblock">:
        unblock(context);
        break;
    case kCodeOf<"task_block">:
        wait(context, wait_state(event.par2), event.par2 & 0xFFFF);
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"task_disable">:
    case kCodeOf<"job_abort">:
        wait(context, job, 0);
        end_job(context);
        break;
    // A task with a job logs task_disable next, which ends it: a late end is reported between the two.
    case kCodeOf<"task_sleep">:
        wait(context, job, 0);
        break;
    default:
        break;
    }
}

void Schedule::follow_mutex(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"set_mutex_block">:
        block_on_mutex(event.par1, event.par2);
        break;
    case kCodeOf<"set_mutex_acquire">:
        acquire(event.par1, event.par2);
        break;
    case kCodeOf<"set_mutex_timeout">:
        if (state(event.par1) == mutex) {
            wake(event.par1);
        } else {
            take_back(event.par1);
        }
        break;
    case kCodeOf<"set_mutex_unlock">:
    case kCodeOf<"set_mutex_owner_died">:
        unlock(event.par2);
        break;
    default:
        break;
    }
}

// The task no longer lends its place to another one.
void Schedule::take_back(std::uint32_t context) {
    if (Task& task = m_tasks[context]; std::exchange(task.lends, false)) {
        m_lenders.erase(task.lender);
    }
}

void Schedule::wake(std::uint32_t context) {
    Task& woken = task(context);
    const TaskState before = std::exchange(woken.state, ready);
    take_back(context);
    if (before != ready) {
        add({.kind = Kind::woken, .state = ready, .before = before, .context = context});
    }
}

// One that is suspended still waits for its mutex as well.
void Schedule::wait(std::uint32_t context, TaskState state, std::uint32_t object) {
    if (state != suspended) {
        take_back(context);
    }
    change_to_wait(context, state, object);
}

void Schedule::unblock(std::uint32_t context) {
    Task& resumed = task(context);
    if (!resumed.lends || resumed.state != suspended) {
        wake(context);
        return;
    }
    const std::uint32_t wanted = resumed.lender->first;
    if (holder(wanted) != kUnknownContext) {
        change_to_wait(context, mutex, wanted);
        return;
    }
    resumed.state = ready; // the mutex was unlocked meanwhile
    add({.kind = Kind::woken, .state = ready, .before = suspended, .context = context});
}

void Schedule::change_to_wait(std::uint32_t context, TaskState state, std::uint32_t object) {
    const TaskState before = std::exchange(task(context).state, state);
    const std::uint32_t other = state == mutex ? holder(object) : kUnknownContext;
    add({.kind = Kind::waits, .state = state, .before = before, .context = context, .other = other, .object = object});
}

void Schedule::begin_job(std::uint32_t context) {
    end_job(context);
    task(context).job = true;
    add({.kind = Kind::job_began, .context = context});
}

void Schedule::end_job(std::uint32_t context, TaskState how) {
    if (std::exchange(m_tasks[context].job, false)) {
        add({.kind = Kind::job_ended, .state = how, .context = context});
    }
}

// Of one life of a context: its task is created, has ended, or is forgotten.
void Schedule::end(std::uint32_t context, Change::Kind kind, TaskState state) {
    take_back(context);
    const TaskState before = std::exchange(m_tasks[context].state, state);
    add({.kind = kind, .state = state, .before = before, .context = context});
    end_job(context, kind == Kind::forgotten ? unknown : job);
}

// No task runs twice: where another processor seems to run it, a record of that one is missing.
void Schedule::run(std::uint16_t cpu, std::uint32_t context) {
    Task& of = task(context);
    if (running(of.cpu) == context) {
        m_processors[of.cpu].running = kUnknownContext;
    }
    of.cpu = cpu;
    at(cpu).running = context;
}

// The task that gets the processor was ready, even if the record of it is missing.
void Schedule::switch_to(std::uint16_t cpu, std::uint32_t context) {
    Processor& here = at(cpu);
    const std::uint32_t switched_to = std::exchange(here.switched_to, context);
    // If another processor has run that task since, the records of this one still form a chain.
    const std::uint32_t before = here.running != kUnknownContext ? here.running : switched_to;
    if (here.running == context) {
        return;
    }
    run(cpu, context);
    here.place = here.dispatched == context ? here.place : context;
    if (state(context) != ready) {
        wake(context);
    }
    const TaskState left = state(before);
    add({.kind = Kind::switched, .state = left == unknown ? ready : left, .context = context, .other = before});
}

void Schedule::decide(Processor& here, std::uint32_t shadow, std::uint32_t exec) {
    here.chosen = shadow;
    here.chosen_place = exec;
    // Otherwise `inheritance` follows.
    if (shadow == exec && std::exchange(m_tasks[shadow].heir, false)) {
        add({.kind = Kind::returns, .context = shadow});
    }
}

void Schedule::block_on_mutex(std::uint32_t context, std::uint32_t mutex_id) {
    wait(context, mutex, mutex_id);
    m_tasks[context].lends = true;
    m_tasks[context].lender = m_lenders.emplace(mutex_id, context);
}

// Another one that could have retried, and did not get to it, waits again without a record of its own.
void Schedule::acquire(std::uint32_t context, std::uint32_t mutex_id) {
    if (mutex_id < kMutexIds) {
        if (mutex_id >= m_holders.size()) {
            m_holders.resize(mutex_id + 1, kUnknownContext);
        }
        m_holders[mutex_id] = context;
    }
    if (state(context) == mutex) {
        wake(context);
    } else {
        take_back(context);
    }
    for (auto [lender, end] = m_lenders.equal_range(mutex_id); lender != end; ++lender) {
        if (state(lender->second) == ready) {
            change_to_wait(lender->second, mutex, mutex_id);
        }
    }
}

// The mutex is handed to no task: all that wait for it may try again.
void Schedule::unlock(std::uint32_t mutex_id) {
    if (mutex_id < m_holders.size()) {
        m_holders[mutex_id] = kUnknownContext;
    }
    for (auto [lender, end] = m_lenders.equal_range(mutex_id); lender != end; ++lender) {
        if (Task& waiter = m_tasks[lender->second]; waiter.state == mutex) {
            waiter.state = ready;
            add({.kind = Kind::woken, .state = ready, .before = mutex, .context = lender->second});
        }
    }
}

void Schedule::begin_interrupt(Processor& here, std::uint32_t vector) {
    if (here.depth == Processor::kNestedMax) {
        return;
    }
    here.vectors[here.depth++] = static_cast<std::uint16_t>(vector);
    add({.kind = Kind::interrupt_began, .object = vector});
}

// An end without its begin: the begin is before the trace or in a gap. Ends that are missing are added.
void Schedule::end_interrupt(Processor& here, std::uint32_t vector) {
    std::uint32_t position = here.depth;
    while (position > 0 && here.vectors[position - 1] != static_cast<std::uint16_t>(vector)) {
        --position;
    }
    while (position > 0 && here.depth >= position) {
        --here.depth;
        add({.kind = Kind::interrupt_ended, .object = here.vectors[here.depth]});
    }
}

// The handlers that are open end somewhere in it.
void Schedule::begin_gap(Processor& here) {
    while (here.depth > 0) {
        --here.depth;
        add({.kind = Kind::interrupt_ended, .object = here.vectors[here.depth]});
    }
    add({.kind = Kind::gap, .other = here.running});
    here.running = here.switched_to = here.place = here.chosen = here.chosen_place = here.dispatched = kUnknownContext;
}

void Schedule::lose(Processor& here) {
    begin_gap(here);
    forget_tasks();
}

void Schedule::forget(std::uint16_t cpu) {
    if (!std::exchange(m_forgot, true)) {
        m_changed = 0;
    }
    lose(at(cpu));
}

// All but those that run on a processor of which all records are there. The state of a task that has ended, or of which
// nothing is known, ends without a change.
void Schedule::forget_tasks() {
    m_holders.clear();
    std::ranges::sort(m_known);
    std::erase_if(m_known, [this](std::uint32_t context) {
        Task& task = m_tasks[context];
        if (running(task.cpu) == context) {
            return false;
        }
        task.known = false;
        task.state = task.state == ended ? unknown : task.state;
        if (task.state != unknown) {
            end(context, Kind::forgotten, unknown);
        }
        end_job(context, unknown);
        return true;
    });
}

std::span<const Change> Schedule::finish() {
    m_changed = 0;
    m_processors.clear();
    forget_tasks();
    return changes();
}

} // namespace host::schedule
