// SPDX-License-Identifier: MIT
// What each record changes in the schedule. docs/events.md describes what the kernel does when it writes each record.
#include "host/schedule/schedule.hpp"

#include "lib/wire_numbers.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <utility>

namespace host::schedule {

namespace {

using enum TaskState;
using Kind = Change::Kind;
using trace::kCodeOf;

constexpr std::uint32_t kMutexIds = 0x1'0000; // greater numbers only occur in damaged traces

constexpr const auto& kGaps = trace::kAnyOf<"blackout_start", "blackout_end", "trace_start">;

// wait_state_of() relies on this: the waits of TaskState are in the order of their numbers in records.
static_assert(static_cast<int>(mutex) - static_cast<int>(job) == static_cast<int>(lib::WaitKind::mutex));

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
    m_changed = 0;
    if (event.after_hole) [[unlikely]] {
        lose(at(event.cpu));
    }
    if (trace::kSetsFilter[event.code]) [[unlikely]] {
        follow_filter(event);
        return changes();
    }
    if (m_filters.hide(trace::Filters::kStates) && !kGaps[event.code]) [[unlikely]] {
        return changes();
    }
    switch (event.code) {
    case kCodeOf<"context_switch">:
        if (event.par2 == trace::kLeaverRests && trace::is_foreign(event)) [[unlikely]] {
            rest_leaver(event);
        }
        switch_to(event.cpu, event.par1);
        break;
    case kCodeOf<"inheritance">:
        m_tasks[event.par1].heir = true;
        add({.kind = Change::Kind::inherits, .context = event.par1, .other = event.par2});
        break;
    case kCodeOf<"interrupt_start">:
        begin_interrupt(at(event.cpu), event.par1);
        break;
    case kCodeOf<"interrupt_end">:
        end_interrupt(at(event.cpu), event.par1);
        break;
    case kCodeOf<"blackout_start">:
    case kCodeOf<"blackout_end">:
    case kCodeOf<"trace_start">:
        follow_gap(event);
        break;
    default:
        follow_task(event);
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
    // The task that leaves a processor is recorded before the one that gets it. So the running task becomes known even
    // if the trace begins in the middle of its execution.
    case kCodeOf<"task_epilogue">:
        if (at(event.cpu).running == kUnknownContext) {
            run(event.cpu, context);
        }
        break;
    case kCodeOf<"task_create">:
        task(context);
        end(context, Change::Kind::created, TaskState::unknown);
        break;
    case kCodeOf<"task_end">:
        task(context);
        end(context, Change::Kind::ended, TaskState::ended);
        break;
    // A periodic task may be activated long before its first release.
    case kCodeOf<"task_activate">:
        if (state(context) == TaskState::unknown) {
            wait(context, TaskState::job, 0);
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
        wait(context, wait_state_of(event.par2), event.par2 & 0xFFFF);
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"task_disable">:
    case kCodeOf<"job_abort">:
        wait(context, TaskState::job, 0);
        end_job(context);
        break;
    // If the task has a job, task_disable follows and ends the job; a late end is reported between the two.
    case kCodeOf<"task_sleep">:
        wait(context, TaskState::job, 0);
        break;
    default:
        follow_mutex(event);
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
        if (state(event.par1) == TaskState::mutex) {
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
    const TaskState before = std::exchange(woken.state, TaskState::ready);
    take_back(context);
    if (before != TaskState::ready) {
        add({.kind = Change::Kind::woken, .state = TaskState::ready, .before = before, .context = context});
    }
}

// A task that is suspended still waits for its mutex, so it does not take its place back.
void Schedule::wait(std::uint32_t context, TaskState state, std::uint32_t object) {
    if (state != TaskState::suspended) {
        take_back(context);
    }
    change_to_wait(context, state, object);
}

void Schedule::change_to_wait(std::uint32_t context, TaskState state, std::uint32_t object) {
    const TaskState before = std::exchange(task(context).state, state);
    const std::uint32_t other = state == TaskState::mutex ? holder(object) : kUnknownContext;
    add({.kind = Change::Kind::waits,
         .state = state,
         .before = before,
         .context = context,
         .other = other,
         .object = object});
}

void Schedule::begin_job(std::uint32_t context) {
    end_job(context);
    task(context).job = true;
    add({.kind = Change::Kind::job_began, .context = context});
}

void Schedule::end_job(std::uint32_t context, TaskState how) {
    if (std::exchange(m_tasks[context].job, false)) {
        add({.kind = Change::Kind::job_ended, .state = how, .context = context});
    }
}

// No task runs on two processors: if another processor seems to run it, a record of that processor is missing.
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

void Schedule::decide(Processor& here, std::uint32_t shadow, std::uint32_t exec) {
    const bool is_guess = here.chosen == kUnknownContext || here.dispatched == kUnknownContext;
    here.chosen = shadow;
    here.chosen_place = exec;
    if (is_guess && here.running == shadow) { // its dispatch was lost, or follows
        here.dispatched = shadow;
        here.place = exec;
    }
    // If the two differ, the record `inheritance` follows.
    if (shadow == exec && std::exchange(m_tasks[shadow].heir, false)) {
        add({.kind = Change::Kind::returns, .context = shadow});
    }
}

void Schedule::begin_interrupt(Processor& here, std::uint32_t vector) {
    if (here.depth == Processor::kNestedMax) {
        return;
    }
    here.vectors[here.depth++] = static_cast<std::uint16_t>(vector);
    add({.kind = Change::Kind::interrupt_began, .object = vector});
}

// An end without a begin is ignored: the begin is before the trace or in a gap. Missing ends of nested handlers are
// added.
void Schedule::end_interrupt(Processor& here, std::uint32_t vector) {
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
void Schedule::unlock(std::uint32_t mutex_id) {
    if (mutex_id < m_holders.size()) {
        m_holders[mutex_id] = kUnknownContext;
    }
    if (!m_lenders.empty()) {
        wake_lenders(mutex_id);
    }
}

// In another system's trace a switch may state that the task that leaves has completed its job.
void Schedule::rest_leaver(const trace::Event& event) {
    if (const std::uint32_t leaver = running(event.cpu); leaver != event.par1 && leaver != kUnknownContext) {
        wait(leaver, job, 0);
    }
}

void Schedule::follow_gap(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"blackout_start">:
        begin_gap(at(event.cpu));
        break;
    case kCodeOf<"blackout_end">:
        lose(at(event.cpu));
        add({.kind = Kind::lost, .object = event.par2});
        break;
    case kCodeOf<"trace_start">:
        // Tracing was off meanwhile, unless no task has run yet.
        if (event.par1 != 0 || running(event.cpu) != kUnknownContext) {
            begin_gap(at(event.cpu));
            forget_tasks();
        }
        break;
    default:
        break;
    }
}

// A filter is one of all processors. The changes are those of the processor that set it.
void Schedule::follow_filter(const trace::Event& event) {
    m_filters.take(event);
    if (trace::Filters::changes(event, trace::Filters::kParts)) {
        Processor& here = at(event.cpu);
        begin_gap(here);
        std::ranges::fill(m_processors, Processor{});
        forget_tasks();
    }
}

// Records of older kernels do not state the kind of the wait; such a task counts as suspended.
TaskState Schedule::wait_state_of(std::uint32_t word) {
    const lib::WaitKind kind = tracer::wait_kind(word).value_or(lib::WaitKind::suspended);
    return static_cast<TaskState>(static_cast<int>(job) + static_cast<int>(kind));
}

// Ends what is known of the context's task, which is created, has ended, or is forgotten.
void Schedule::end(std::uint32_t context, Change::Kind kind, TaskState state) {
    take_back(context);
    const TaskState before = std::exchange(m_tasks[context].state, state);
    add({.kind = kind, .state = state, .before = before, .context = context});
    end_job(context, kind == Kind::forgotten ? unknown : job);
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
    resumed.state = ready; // the mutex has been unlocked meanwhile
    add({.kind = Kind::woken, .state = ready, .before = suspended, .context = context});
}

void Schedule::block_on_mutex(std::uint32_t context, std::uint32_t mutex_id) {
    wait(context, mutex, mutex_id);
    m_tasks[context].lends = true;
    m_tasks[context].lender = m_lenders.emplace(mutex_id, context);
}

// A task that could have retried, but did not run before the mutex was acquired, waits again; no record states that.
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

void Schedule::wake_lenders(std::uint32_t mutex_id) {
    for (auto [lender, end] = m_lenders.equal_range(mutex_id); lender != end; ++lender) {
        if (Task& waiter = m_tasks[lender->second]; waiter.state == mutex) {
            waiter.state = ready;
            add({.kind = Kind::woken, .state = ready, .before = mutex, .context = lender->second});
        }
    }
}

// Open handlers end at an unknown time in the gap.
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

// Forgets all tasks but those that run on a processor without a gap. For the state of a task that has ended or is
// unknown, no change is reported.
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
