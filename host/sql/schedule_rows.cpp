// SPDX-License-Identifier: MIT
#include "host/sql/schedule_rows.hpp"

#include "host/text/escape.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace host::sql {

namespace {

using schedule::Activity;
using schedule::Cause;
using schedule::Change;
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

std::string_view reason_of(schedule::HoldEnd how) {
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"unlocked", "taken by another", "owner died", "records lost", "end of the trace"});
    static_assert(kNames.size() == static_cast<std::size_t>(schedule::HoldEnd::end_of_trace) + 1);
    return kNames[static_cast<std::size_t>(how)];
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

} // namespace

ScheduleRows::ScheduleRows(const RowSink& sink, bool accounts)
    : m_sink(sink) {
    if (accounts) {
        m_accounting.emplace([this](const schedule::JobAccount& account) { add_account(account); });
    }
}

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

void ScheduleRows::add_account(const schedule::JobAccount& account) {
    const AccountRows rows{.names = *m_trace_names,
                           .task = [this](std::uint32_t context) { return name_of(context); },
                           .khz = m_facts != nullptr ? m_facts->clock.khz : 0,
                           .cost = m_facts != nullptr ? m_facts->cost : std::nullopt};
    rows.add_job(account, m_sink);
    rows.add_shares(account, m_sink);
    end_preemption(account.job.context, account.job.end);
}

void ScheduleRows::end_preemption(std::uint32_t context, std::optional<schedule::Moment> end) {
    const auto ended = m_preemptions.extract(context);
    if (ended.empty()) {
        return;
    }
    const Preemption& preemption = ended.mapped();
    const bool rises = end && end->ticks >= preemption.begin.ticks;
    const lib::Ticks length = rises ? end->ticks - preemption.begin.ticks : lib::Ticks{};
    const std::uint32_t khz = m_facts != nullptr ? m_facts->clock.khz : 0;
    const std::array cells = {Cell(std::string_view(name_of(context))),
                              Cell(context),
                              Cell(preemption.job),
                              Cell(std::string_view(name_of(preemption.by))),
                              Cell(preemption.by),
                              Cell(preemption.cpu),
                              cell(preemption.begin.ns),
                              cell(time_of(end)),
                              rises && khz != 0 ? Cell(lib::TickRate{khz}.to_nanoseconds(length).value) : Cell(),
                              Cell(preemption.begin.ticks.value),
                              rises ? Cell(length.value) : Cell()};
    static_assert(static_cast<int>(cells.size()) == column_count(Table::preemptions));
    m_sink(Table::preemptions, cells);
}

// Until it has a processor again, or could not continue anyway.
void ScheduleRows::take_preemption(const trace::Event& event, const Change& change) {
    const schedule::Moment now = schedule::Moment::of(event);
    if (change.kind == Change::Kind::waits) {
        end_preemption(change.context, now);
    } else if (change.kind == Change::Kind::switched) {
        end_preemption(change.context, now);
        const bool is_context = change.other < schedule::kContexts;
        const schedule::Job* const job =
            is_context ? m_accounting->jobs().open(static_cast<std::uint16_t>(change.other)) : nullptr;
        if (job != nullptr && m_schedule.state(change.other) == schedule::TaskState::ready) {
            m_preemptions[change.other] = {.job = job->number, .by = change.context, .cpu = event.cpu, .begin = now};
        }
    }
}

void ScheduleRows::add_hold(const schedule::Hold& hold) {
    const std::string name = trace::name_or_number(*m_trace_names, Unit::mutex, hold.mutex);
    const Time end = time_of(hold.end);
    const std::array cells = {Cell(std::string_view(name)),
                              Cell(hold.mutex),
                              Cell(std::string_view(name_of(hold.context))),
                              Cell(hold.context),
                              cell(hold.begin.ns),
                              cell(end),
                              cell(difference(hold.begin.ns, end)),
                              Cell(reason_of(hold.how))};
    m_sink(Table::holds, cells);
}

void ScheduleRows::add_handler(const schedule::Handler& handler) {
    const std::string name = text::escaped(m_trace_names->find(Unit::vector, handler.vector));
    const std::string task = handler.task < schedule::kContexts ? name_of(handler.task) : std::string();
    const Time end = time_of(handler.end);
    const std::array cells = {
        Cell(handler.vector), Cell::named(name),      Cell(handler.cpu), Cell::named(task),
        Cell(handler.depth),  cell(handler.begin.ns), cell(end),         cell(difference(handler.begin.ns, end))};
    m_sink(Table::interrupts, cells);
}

void ScheduleRows::add_loss(const schedule::Loss& loss) {
    const std::array cells = {Cell(loss.cpu), cell(time_of(loss.begin)), cell(loss.end.ns), Cell(loss.records)};
    m_sink(Table::losses, cells);
}

void ScheduleRows::add(const trace::Event& event, const trace::TraceFacts& facts) {
    if (event.metadata || !event.is_sound() || (event.row == nullptr && !trace::is_foreign(event))) {
        return;
    }
    m_trace_names = event.names;
    m_facts = &facts;
    const auto changes = m_schedule.take(event);
    const auto before = m_intervals.last(event.cpu);
    m_intervals.take(event, changes, m_schedule);
    if (m_accounting) {
        m_accounting->take(event, changes, m_schedule, facts.clock.khz);
    }
    m_handlers.take(event, changes, m_schedule);
    m_losses.take(event, changes, before);
    m_holds.take(event, m_schedule, before);
    for (const Change& change : changes) {
        if (m_accounting) {
            take_preemption(event, change);
        }
        if (change.kind == Change::Kind::created) {
            m_names.erase(change.context); // the context may have been another task's
        }
    }
}

void ScheduleRows::finish(const trace::Names& names) {
    m_trace_names = &names;
    m_handlers.finish();
    m_holds.finish();
    m_intervals.finish();
    if (m_accounting) {
        m_accounting->finish();
    }
}

} // namespace host::sql
