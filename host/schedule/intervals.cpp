// SPDX-License-Identifier: MIT
// A task that is to leave its processor continues to run until the switch, and its next interval begins only then.
#include "host/schedule/intervals.hpp"

#include "host/trace/event.hpp"
#include "lib/wire_numbers.hpp"

namespace host::schedule {

namespace {

using Kind = Change::Kind;
using trace::kCodeOf;

// The wait word of set_mutex_block, whose record has none.
constexpr std::uint32_t kWaitMutex = static_cast<std::uint32_t>(lib::WaitKind::mutex) << 16;

constexpr Beginning kPreempted{Activity::ready, Cause::preempted};
constexpr Beginning kEnded{Activity::unknown, Cause::ended};

Cause cause_of(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"job_release">:
        return Cause::released;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"context_switch">: // in another system's trace: the task that leaves has completed its job
        return Cause::completed;
    case kCodeOf<"job_abort">:
        return Cause::aborted;
    case kCodeOf<"task_sleep">:
    case kCodeOf<"task_disable">:
        return Cause::sleeps;
    default:
        return Cause::unblocked;
    }
}

Beginning beginning_of(const trace::Event& event, const Change& change) {
    if (change.kind == Kind::woken) {
        return {Activity::ready, cause_of(event)};
    }
    if (!is_blocked(change.state)) {
        return {Activity::resting, cause_of(event)};
    }
    const std::uint32_t wait = event.is(kCodeOf<"task_block">) ? event.par2 : kWaitMutex | (change.object & 0xFFFF);
    return {Activity::waiting, Cause::blocked, wait, change.other};
}

} // namespace

std::optional<Moment> Intervals::last(std::uint16_t cpu) const {
    const auto found = m_processors.find(cpu);
    return found != m_processors.end() ? std::optional(found->second.last) : std::nullopt;
}

Intervals::Task& Intervals::task(std::uint32_t context) {
    const auto [place, is_new] = m_tasks.try_emplace(static_cast<std::uint16_t>(context));
    if (is_new) {
        place->second.since = *m_first;
    }
    return place->second;
}

void Intervals::begin(std::uint32_t context, Task& task, Moment now, const Beginning& next) {
    m_sink({.context = static_cast<std::uint16_t>(context),
            .cpu = task.cpu,
            .activity = task.now.activity,
            .began = task.now.cause,
            .ended = next.cause,
            .wait = task.now.wait,
            .next_wait = next.wait,
            .other = task.now.other,
            .begin = task.since,
            .end = later(task.since, now)});
    task.now = next;
    task.since = later(task.since, now);
}

// If a task had the context before and no record of its end exists, it ends here.
void Intervals::create(std::uint32_t context, Moment now) {
    const auto found = m_tasks.find(static_cast<std::uint16_t>(context));
    if (found != m_tasks.end() && found->second.now.cause != Cause::ended) {
        begin(context, found->second, now, kEnded);
    }
    Task& created = task(context);
    created.now = {Activity::resting, Cause::created};
    created.since = now;
}

void Intervals::switch_to(const trace::Event& event, const Change& change, const Schedule& schedule) {
    const Moment now = Moment::of(event);
    std::optional<std::uint16_t>& running = m_processors[event.cpu].running;
    if (running) {
        if (Task& left = task(*running); left.now.activity == Activity::running && left.cpu == event.cpu) {
            begin(*running, left, now, left.next);
        }
    }
    running = static_cast<std::uint16_t>(change.context);
    Task& chosen = task(change.context);
    begin(change.context, chosen, now,
          {.activity = Activity::running, .cause = Cause::dispatched, .other = schedule.processor(event.cpu).place});
    chosen.cpu = event.cpu;
    chosen.next = kPreempted;
}

void Intervals::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    if (event.metadata || (event.row == nullptr && !trace::is_foreign(event)) || !event.is_sound()) {
        return;
    }
    const Moment now = Moment::of(event);
    m_first = m_first.value_or(now);
    const Moment before = last(event.cpu).value_or(now);
    for (const Change& change : changes) {
        switch (change.kind) {
        case Kind::switched:
            switch_to(event, change, schedule);
            break;
        case Kind::woken:
        case Kind::waits:
            if (change.kind == Kind::woken && event.is(kCodeOf<"context_switch">)) {
                break; // its wake-up has no record, and it runs now
            }
            if (Task& of = task(change.context); of.now.activity == Activity::running) {
                of.next = change.kind == Kind::woken ? kPreempted : beginning_of(event, change);
            } else {
                begin(change.context, of, now, beginning_of(event, change));
            }
            break;
        case Kind::created:
            create(change.context, now);
            break;
        case Kind::ended:
            if (Task& of = task(change.context); of.now.activity == Activity::running) {
                of.next = kEnded;
            } else {
                begin(change.context, of, now, kEnded);
            }
            break;
        case Kind::forgotten:
            begin(change.context, task(change.context), before, {.cause = Cause::records_lost});
            break;
        case Kind::job_began:
        case Kind::job_ended:
        case Kind::interrupt_began:
        case Kind::interrupt_ended:
        case Kind::inherits:
        case Kind::returns:
        case Kind::gap:
        case Kind::lost:
            break;
        }
    }
    if (event.is(kCodeOf<"slice_end">)) {
        if (Task& of = task(event.par1); of.now.activity == Activity::running && of.next.activity == Activity::ready) {
            of.next.cause = Cause::slice_used_up;
        }
    }
    m_processors[event.cpu].last = now;
}

void Intervals::finish() {
    std::optional<Moment> end_of_trace = m_first;
    for (const auto& [cpu, processor] : m_processors) {
        end_of_trace = later(*end_of_trace, processor.last);
    }
    for (auto& [context, of] : m_tasks) {
        if (of.now.cause != Cause::ended) {
            begin(context, of, *end_of_trace, {.cause = Cause::end_of_trace});
        }
    }
    m_tasks.clear();
}

void Handlers::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    if (trace::Filters::changes(event, trace::Filters::kParts)) [[unlikely]] {
        m_open.clear(); // their ends, on all processors, are not known
        return;
    }
    for (const Change& change : changes) {
        if (change.kind == Change::Kind::interrupt_began) {
            std::vector<Handler>& open = m_open[event.cpu];
            open.push_back({.vector = change.object,
                            .cpu = event.cpu,
                            .task = schedule.running(event.cpu),
                            .depth = open.size() + 1,
                            .begin = Moment::of(event)});
        } else if (change.kind == Change::Kind::interrupt_ended) {
            std::vector<Handler>& open = m_open[event.cpu];
            Handler ended = open.back();
            open.pop_back();
            if (!event.after_hole &&
                !event.is(trace::kCodeOf<"blackout_end">)) { // else it ended at an unknown time in the gap
                ended.end = change.object == event.par1 ? std::optional(Moment::of(event)) : std::nullopt;
                m_sink(ended);
            }
        }
    }
}

void Handlers::finish() {
    for (auto& [cpu, open] : m_open) {
        for (; !open.empty(); open.pop_back()) {
            m_sink(open.back());
        }
    }
}

using trace::kCodeOf;

void Holds::end(Hold hold, const std::optional<Moment>& now, HoldEnd how) {
    hold.end = now;
    hold.how = how;
    m_sink(hold);
}

// Compares the holder after the event, which the schedule knows, with the open hold.
void Holds::take_mutex(const trace::Event& event, const Schedule& schedule) {
    const std::uint32_t mutex = event.par2;
    const std::uint32_t holder = schedule.holder(mutex);
    const Moment now = Moment::of(event);
    const auto before = m_open.find(mutex);
    if (before != m_open.end()) {
        if (before->second.context == holder) {
            return;
        }
        end(before->second, now,
            holder != kUnknownContext                   ? HoldEnd::taken
            : event.is(kCodeOf<"set_mutex_owner_died">) ? HoldEnd::owner_died
                                                        : HoldEnd::unlocked);
        m_open.erase(before);
    }
    if (holder != kUnknownContext) {
        m_open[mutex] = {.mutex = mutex, .context = holder, .begin = now};
    }
}

void Holds::take(const trace::Event& event, const Schedule& schedule, const std::optional<Moment>& before) {
    if (event.after_hole || trace::Filters::changes(event, trace::Filters::kParts)) [[unlikely]] {
        for (const auto& [mutex, hold] : m_open) {
            end(hold, before, HoldEnd::records_lost);
        }
        m_open.clear();
    }
    if (event.is(kCodeOf<"set_mutex_acquire">) || event.is(kCodeOf<"set_mutex_unlock">) ||
        event.is(kCodeOf<"set_mutex_owner_died">)) {
        take_mutex(event, schedule);
    } else if (event.is(kCodeOf<"blackout_end">) || event.is(kCodeOf<"trace_start">)) {
        std::erase_if(m_open, [&](const auto& open) {
            const bool is_lost = schedule.holder(open.first) == kUnknownContext;
            if (is_lost) {
                end(open.second, before, HoldEnd::records_lost);
            }
            return is_lost;
        });
    }
    m_latest = m_latest ? later(*m_latest, Moment::of(event)) : Moment::of(event);
}

void Holds::finish() {
    for (const auto& [mutex, hold] : m_open) {
        end(hold, m_latest, HoldEnd::end_of_trace);
    }
    m_open.clear();
}

} // namespace host::schedule
