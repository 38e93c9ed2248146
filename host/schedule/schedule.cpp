// SPDX-License-Identifier: MIT
// The rare cases of the schedule's model: gaps, mutexes that tasks wait for, the ends of tasks.
#include "host/schedule/schedule.hpp"

#include "host/schedule/schedule_step.hpp"
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
    return event.row == nullptr || !event.is_sound() ? std::span<const Change>() : follow(event, event.code);
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
        if (running(event.cpu) != kUnknownContext) { // tracing was off meanwhile
            begin_gap(at(event.cpu));
            forget_tasks();
        }
        break;
    default:
        break;
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

void Schedule::forget(std::uint16_t cpu) {
    if (!std::exchange(m_forgot, true)) {
        m_changed = 0;
    }
    lose(at(cpu));
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
