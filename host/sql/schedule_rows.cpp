// SPDX-License-Identifier: MIT
#include "host/sql/schedule_rows.hpp"

#include "host/text/escape.hpp"
#include "host/trace/foreign.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace host::sql {

namespace {

using schedule::Activity;
using schedule::Cause;
using schedule::Change;
using schedule::Outcome;
using trace::kCodeOf;
using tracer::Unit;

using Time = std::optional<std::int64_t>;

Cell cell(const Time& time) {
    return Cell::of(time);
}

Time time_of(const std::optional<schedule::Moment>& moment) {
    return moment ? moment->ns : std::nullopt;
}

// Saturated: stamps of a damaged trace may be 2^64 apart.
Time difference(const Time& begin, const Time& end) {
    if (!begin || !end) {
        return std::nullopt;
    }
    std::int64_t result = 0;
    using Limits = std::numeric_limits<std::int64_t>;
    return !__builtin_sub_overflow(*end, *begin, &result) ? result : *begin < 0 ? Limits::max() : Limits::min();
}

// Empty: it is no row.
std::string_view activity_name(Activity activity) {
    static constexpr auto kNames = std::to_array<std::string_view>({"", "running", "ready", "blocked", ""});
    static_assert(kNames.size() == static_cast<std::size_t>(Activity::resting) + 1);
    return kNames[static_cast<std::size_t>(activity)];
}

// Empty: the activity says it all.
std::string_view cause_name(Cause cause) {
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"", "", "released", "unblocked", "", "preempted", "slice used up", "", "completed", "aborted", "ended",
         "sleeps", "records lost", "end of the trace"});
    static_assert(kNames.size() == static_cast<std::size_t>(Cause::end_of_trace) + 1);
    return kNames[static_cast<std::size_t>(cause)];
}

std::string_view outcome_name(Outcome outcome) {
    static constexpr auto kNames =
        std::to_array<std::string_view>({"completed", "aborted", "ended", "replaced", "lost", "unfinished"});
    static_assert(kNames.size() == static_cast<std::size_t>(Outcome::unfinished) + 1);
    return kNames[static_cast<std::size_t>(outcome)];
}

} // namespace

const std::string& ScheduleRows::name_of(std::uint32_t context) {
    std::string& name = m_names[context];
    if (name.empty()) {
        name = trace::name_or_number(*m_trace_names, Unit::context, context);
    }
    return name;
}

// Of an interval that ended otherwise than its activity does, the end is the reason; else the begin.
void ScheduleRows::add_interval(const schedule::Interval& interval) {
    const std::string_view activity = activity_name(interval.activity);
    if (activity.empty()) {
        return;
    }
    const bool is_cut = interval.ended == Cause::records_lost;
    const Cause cause = interval.activity == Activity::running || is_cut ? interval.ended : interval.began;
    const std::uint32_t wait = interval.activity == Activity::running ? interval.next_wait : interval.wait;
    const std::string reason =
        cause == Cause::blocked ? trace::wait_text(*m_trace_names, wait) : std::string(cause_name(cause));
    const bool is_held = interval.activity == Activity::waiting && interval.other < schedule::kContexts;
    const std::array cells = {Cell(std::string_view(name_of(interval.context))),
                              Cell(interval.context),
                              Cell(interval.cpu),
                              Cell(activity),
                              cell(interval.begin.ns),
                              cell(interval.end.ns),
                              cell(difference(interval.begin.ns, interval.end.ns)),
                              Cell::named(reason),
                              is_held ? Cell(std::string_view(name_of(interval.other))) : Cell(),
                              is_held ? Cell(interval.other) : Cell()};
    m_sink(Table::intervals, cells);
}

void ScheduleRows::add_job(const schedule::Job& job) {
    const Time end = time_of(job.end);
    const std::array cells = {Cell(std::string_view(name_of(job.context))),
                              Cell(job.context),
                              Cell(job.number),
                              cell(job.release.ns),
                              cell(time_of(job.start)),
                              cell(end),
                              cell(time_of(job.deadline)),
                              cell(difference(job.release.ns, end)),
                              Cell(job.is_late() ? 1 : 0),
                              Cell(outcome_name(job.outcome))};
    m_sink(Table::jobs, cells);
}

void ScheduleRows::end_hold(std::uint32_t mutex, const Hold& hold, Time end, std::string_view reason) {
    const std::string name = trace::name_or_number(*m_trace_names, Unit::mutex, mutex);
    const std::array cells = {Cell(std::string_view(name)),
                              Cell(mutex),
                              Cell(std::string_view(name_of(hold.context))),
                              Cell(hold.context),
                              cell(hold.begin),
                              cell(end),
                              cell(difference(hold.begin, end)),
                              Cell(reason)};
    m_sink(Table::holds, cells);
}

// The schedule knows who holds a mutex after the event.
void ScheduleRows::take_mutex(const trace::Event& event) {
    const std::uint32_t mutex = event.par2;
    const std::uint32_t holder = m_schedule.holder(mutex);
    const Time now = schedule::Moment::of(event).ns;
    const auto before = m_holds.find(mutex);
    if (before != m_holds.end()) {
        if (before->second.context == holder) {
            return;
        }
        const bool is_taken = holder != schedule::kUnknownContext; // the record of its unlock is missing
        end_hold(mutex, before->second, now,
                 is_taken                                    ? "taken by another"
                 : event.is(kCodeOf<"set_mutex_owner_died">) ? "owner died"
                                                             : "unlocked");
        m_holds.erase(before);
    }
    if (holder != schedule::kUnknownContext) {
        m_holds[mutex] = {.context = holder, .begin = now};
    }
}

void ScheduleRows::begin_handler(const trace::Event& event, std::uint32_t vector) {
    const std::uint32_t running = m_schedule.running(event.cpu);
    m_cpus[event.cpu].handlers.push_back({.vector = vector,
                                          .name = text::escaped(event.names->find(Unit::vector, vector)),
                                          .task = running < schedule::kContexts ? name_of(running) : std::string(),
                                          .begin = schedule::Moment::of(event).ns});
}

void ScheduleRows::end_handler(std::uint16_t cpu, Time now) {
    std::vector<Handler>& handlers = m_cpus[cpu].handlers;
    const Handler& handler = handlers.back();
    const std::array cells = {
        Cell(handler.vector),  Cell::named(handler.name), Cell(cpu), Cell::named(handler.task),
        Cell(handlers.size()), cell(handler.begin),       cell(now), cell(difference(handler.begin, now))};
    m_sink(Table::interrupts, cells);
    handlers.pop_back();
}

// before: the event of this processor before this one.
void ScheduleRows::apply(const trace::Event& event, const Change& change, std::optional<schedule::Moment> before) {
    Cpu& cpu = m_cpus[event.cpu];
    switch (change.kind) {
    case Change::Kind::interrupt_began:
        begin_handler(event, change.object);
        break;
    case Change::Kind::interrupt_ended:
        if (event.is(kCodeOf<"blackout_end">)) {
            cpu.handlers.pop_back(); // somewhere in the gap
        } else {
            end_handler(event.cpu, change.object == event.par1 ? schedule::Moment::of(event).ns : std::nullopt);
        }
        break;
    case Change::Kind::lost: {
        const Time begin = cpu.blackout ? cpu.blackout : time_of(before);
        cpu.blackout.reset();
        const std::array cells = {Cell(event.cpu), cell(begin), cell(schedule::Moment::of(event).ns),
                                  Cell(change.object)};
        m_sink(Table::losses, cells);
        break;
    }
    case Change::Kind::created:
        m_names.erase(change.context); // the context may have been another task's
        break;
    case Change::Kind::switched:
    case Change::Kind::woken:
    case Change::Kind::waits:
    case Change::Kind::ended:
    case Change::Kind::forgotten:
    case Change::Kind::job_began:
    case Change::Kind::job_ended:
    case Change::Kind::inherits:
    case Change::Kind::returns:
    case Change::Kind::gap:
        break;
    }
}

void ScheduleRows::add(const trace::Event& event, std::uint32_t khz) {
    if (event.metadata || !event.is_sound() || (event.row == nullptr && !trace::is_foreign(event))) {
        return;
    }
    m_trace_names = event.names;
    const auto changes = m_schedule.take(event);
    const auto before = m_intervals.last(event.cpu);
    m_intervals.take(event, changes, m_schedule);
    m_jobs.take(event, changes, khz);
    for (const Change& change : changes) {
        apply(event, change, before);
    }
    if (event.is(kCodeOf<"set_mutex_acquire">) || event.is(kCodeOf<"set_mutex_unlock">) ||
        event.is(kCodeOf<"set_mutex_owner_died">)) {
        take_mutex(event);
    } else if (event.is(kCodeOf<"blackout_end">) || event.is(kCodeOf<"trace_start">)) {
        std::erase_if(m_holds, [&](const auto& held) {
            const bool is_lost = m_schedule.holder(held.first) == schedule::kUnknownContext;
            if (is_lost) {
                end_hold(held.first, held.second, time_of(before), cause_name(Cause::records_lost));
            }
            return is_lost;
        });
    }
    m_latest = std::max(m_latest, schedule::Moment::of(event).ns);
    if (event.is(kCodeOf<"blackout_start">)) {
        m_cpus[event.cpu].blackout = schedule::Moment::of(event).ns;
    }
}

void ScheduleRows::finish(const trace::Names& names) {
    m_trace_names = &names;
    for (auto& [number, cpu] : m_cpus) {
        while (!cpu.handlers.empty()) {
            end_handler(number, std::nullopt);
        }
    }
    for (const auto& [mutex, hold] : m_holds) {
        end_hold(mutex, hold, m_latest, cause_name(Cause::end_of_trace));
    }
    m_holds.clear();
    m_intervals.finish();
    m_jobs.finish();
}

} // namespace host::sql
