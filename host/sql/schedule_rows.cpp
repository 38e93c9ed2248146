// SPDX-License-Identifier: MIT
#include "host/sql/schedule_rows.hpp"

#include "host/analyse/summary.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"
#include "lib/units.hpp"

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

// Returns an empty text if the interval is not a row.
std::string_view activity_name(Activity activity) {
    static constexpr auto kNames = std::to_array<std::string_view>({"", "running", "ready", "blocked", ""});
    static_assert(kNames.size() == static_cast<std::size_t>(Activity::resting) + 1);
    return kNames[static_cast<std::size_t>(activity)];
}

// Returns an empty text if the activity needs no detail.
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

// Adds an interval. Its reason is that of its end if it ended otherwise than its activity does, else that of its begin.
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

// The preemption lasts until the job has a processor again, or until it could not continue in any case.
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

// --- jobs and their shares -------------------------------------------------------------------------------------------

// Rows of `jobs` and `shares`. Durations in nanoseconds are computed from those in ticks, so they may differ by one
// from the difference of two times.

namespace {

using schedule::By;
using schedule::Culprit;
using schedule::Inversion;
using schedule::JobAccount;
using schedule::Moment;
using schedule::Outcome;
using schedule::Part;
using schedule::Share;
using tracer::Unit;

std::string_view outcome_name(Outcome outcome) {
    static constexpr auto kNames =
        std::to_array<std::string_view>({"completed", "aborted", "ended", "replaced", "lost", "unfinished"});
    static_assert(kNames.size() == static_cast<std::size_t>(Outcome::unfinished) + 1);
    return kNames[static_cast<std::size_t>(outcome)];
}

Cell time(const std::optional<Moment>& moment) {
    return moment ? Cell::of(moment->ns) : Cell();
}

Cell stamp(const std::optional<Moment>& moment) {
    return moment ? Cell(moment->ticks.value) : Cell();
}

// Saturated: stamps of a damaged trace may be 2^64 apart.
std::optional<std::int64_t> distance(const Moment& from, const std::optional<Moment>& to) {
    if (!to) {
        return std::nullopt;
    }
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool is_later = to->ticks >= from.ticks;
    const lib::Ticks length = is_later ? to->ticks - from.ticks : from.ticks - to->ticks;
    const auto fitting = static_cast<std::int64_t>(std::min(length.value, kMost));
    return is_later ? fitting : -fitting;
}

// Converts ticks by the clock's rate.
class Nanoseconds {
  public:
    explicit Nanoseconds(std::uint32_t khz)
        : m_khz(khz) {}

    [[nodiscard]] Cell operator()(lib::Ticks duration) const {
        return m_khz != 0 ? Cell(lib::TickRate{m_khz}.to_nanoseconds(duration).value) : Cell();
    }

    [[nodiscard]] Cell operator()(std::optional<std::int64_t> distance) const {
        if (!distance || m_khz == 0) {
            return {};
        }
        const auto length = static_cast<std::uint64_t>(*distance < 0 ? -*distance : *distance);
        const auto length_ns = static_cast<std::int64_t>(lib::TickRate{m_khz}.to_nanoseconds({length}).value);
        return Cell(*distance < 0 ? -length_ns : length_ns);
    }

  private:
    std::uint32_t m_khz;
};

// Sums the shares that fulfil a condition.
template <typename Condition>
lib::Ticks sum_of(const JobAccount& account, Condition&& condition) {
    lib::Ticks sum;
    for (const Share& share : account.shares) {
        sum = condition(share.culprit) ? sum + share.ticks : sum;
    }
    return sum;
}

lib::Ticks interference_by(const JobAccount& account, By by) {
    return sum_of(account, [&](const Culprit& culprit) {
        const By found = culprit.by == By::section ? By::kernel : culprit.by;
        return culprit.part == Part::interference && found == by;
    });
}

lib::Ticks blocking_of(const JobAccount& account, Inversion inversion) {
    return sum_of(account, [&](const Culprit& culprit) {
        return culprit.part == Part::blocking && culprit.inversion == inversion;
    });
}

// Returns an empty text if the object has no name or is not known.
std::string who_text(const AccountRows& rows, const Culprit& culprit) {
    if (culprit.who == schedule::kUnknownContext || culprit.by == By::self) {
        return {};
    }
    if (culprit.by == By::interrupt) {
        return culprit.who == schedule::kTimerHandler ? "timer"
                                                      : trace::name_or_number(rows.names, Unit::vector, culprit.who);
    }
    return culprit.by == By::throttling ? trace::name_or_number(rows.names, Unit::server, culprit.who)
                                        : rows.task(culprit.who);
}

} // namespace

void AccountRows::add_job(const JobAccount& account, const RowSink& sink) const {
    const schedule::Job& job = account.job;
    const Nanoseconds ns(khz);
    const std::string name = task(job.context);
    const bool is_known = account.is_known();
    const auto if_known = [&](auto value) { return is_known ? Cell(value) : Cell(); };
    const auto duration = [&](lib::Ticks ticks) { return is_known ? ns(ticks) : Cell(); };
    const auto part = [&](Part of) { return duration(account.part(of)); };
    const auto exactly = [&](Part of) { return if_known(account.part(of).value); };
    const auto interference = [&](By by) { return duration(interference_by(account, by)); };
    const auto blocking = [&](Inversion by) { return duration(blocking_of(account, by)); };
    // If a release comes after its record, what begins or ends at it is not known. The records of a doubtful job may be
    // those of several.
    const bool is_invalid = account.unaccounted == schedule::Unaccounted::early || job.doubtful;
    const auto response = is_invalid || !job.release ? std::nullopt : distance(*job.release, job.end);
    const auto tracing = analyse::tracing_time(cost, account.records);
    const std::array cells = {
        Cell(std::string_view(name)), Cell(job.context), Cell(job.number),
        // These are times.
        time(job.release), time(job.start), time(job.end), time(job.deadline), ns(response),
        Cell(job.is_late() ? 1 : 0), Cell(outcome_name(job.outcome)), Cell(account.cpu), Cell::of(account.ready.ns),
        // These are durations.
        part(Part::jitter), is_known ? ns(account.start_latency()) : Cell(), is_known ? ns(account.span()) : Cell(),
        ns(job.deadline && !is_invalid ? distance(*job.deadline, job.end) : std::nullopt), part(Part::execution),
        duration(account.gross), part(Part::interference), interference(By::task), interference(By::interrupt),
        interference(By::kernel), interference(By::throttling), part(Part::blocking), blocking(Inversion::bounded),
        blocking(Inversion::unbounded), part(Part::suspension), tracing ? duration(*tracing) : Cell(),
        if_known(account.records), if_known(account.dispatches), if_known(account.preemptions),
        if_known(account.migrations),
        // These are the same durations in ticks.
        stamp(job.release), Cell(account.ready.ticks.value), stamp(job.start), stamp(job.end), stamp(job.deadline),
        Cell::of(response), exactly(Part::jitter), exactly(Part::execution), if_known(account.gross.value),
        exactly(Part::interference), exactly(Part::blocking), exactly(Part::suspension), if_known(account.residue)};
    static_assert(static_cast<int>(cells.size()) == column_count(Table::jobs));
    sink(Table::jobs, cells);
}

void AccountRows::add_shares(const JobAccount& account, const RowSink& sink) const {
    if (!account.is_known()) {
        return;
    }
    const Nanoseconds ns(khz);
    const std::string name = task(account.job.context);
    for (const Share& share : account.shares) {
        const Culprit& culprit = share.culprit;
        const bool blocks = culprit.part == Part::blocking;
        const bool has_holder = blocks && culprit.holder < schedule::kContexts;
        const bool has_who = culprit.by != By::self && culprit.who != schedule::kUnknownContext;
        const std::string who = who_text(*this, culprit);
        const bool has_mutex = blocks && culprit.object != 0; // none: the mutex was just unlocked
        const std::string mutex = has_mutex ? trace::name_or_number(names, Unit::mutex, culprit.object) : "";
        const std::string holder = has_holder ? task(culprit.holder) : "";
        const std::uint32_t wait = blocks ? culprit.end_waits : culprit.object;
        const std::string waits_for = wait != 0 ? trace::wait_text(names, wait) : "";
        const std::array cells = {Cell(std::string_view(name)),
                                  Cell(account.job.context),
                                  Cell(account.job.number),
                                  Cell(schedule::part_name(culprit.part)),
                                  Cell(schedule::by_name(culprit.by)),
                                  Cell::named(who),
                                  has_who ? Cell(culprit.who) : Cell(),
                                  Cell::named(mutex),
                                  has_mutex ? Cell(culprit.object) : Cell(),
                                  Cell::named(holder),
                                  has_holder ? Cell(culprit.holder) : Cell(),
                                  blocks ? Cell(schedule::inversion_name(culprit.inversion)) : Cell(),
                                  Cell::named(waits_for),
                                  Cell(share.ticks.value),
                                  ns(share.ticks),
                                  Cell(share.records),
                                  Cell(share.pieces),
                                  Cell(share.longest.value),
                                  ns(share.longest),
                                  Cell(share.longest_begin.value),
                                  Cell(share.longest_place.cpu),
                                  Cell(share.longest_place.chunk),
                                  Cell(share.longest_place.record)};
        static_assert(static_cast<int>(cells.size()) == column_count(Table::shares));
        sink(Table::shares, cells);
    }
}

} // namespace host::sql
