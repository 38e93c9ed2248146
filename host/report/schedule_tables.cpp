// SPDX-License-Identifier: MIT
#include "host/report/schedule_tables.hpp"

#include "host/text/escape.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace host::report {

namespace {

using schedule::Activity;
using schedule::Cause;

std::uint64_t since(std::uint64_t time, std::uint64_t reference) {
    return zigzag(static_cast<std::int64_t>(time) - static_cast<std::int64_t>(reference));
}

constexpr unsigned kLateShift = 3;
constexpr unsigned kUnaccountedShift = 4;
constexpr unsigned kCauseShift = 2;

// Returns the table about a processor or a mutex, whose rows are spans of time.
template <typename Number>
Table& table_of(std::map<Number, Table>& tables, Number about, std::string_view name,
                std::initializer_list<std::string_view> numbers) {
    return tables.try_emplace(about, name, about, std::initializer_list<std::string_view>{"begin", "end"}, numbers)
        .first->second;
}

void name_row(TaskRow& row, const trace::Names& names) {
    const trace::TaskNames* const known = names.task(row.context);
    if (known != nullptr && row.name.empty()) {
        row.name = text::escaped(known->name);
        row.parameters = known->parameters;
    }
}

} // namespace

std::size_t TaskRows::number_of(std::uint16_t context, const trace::Names& names) {
    if (const auto known = m_numbers.find(context); known != m_numbers.end()) {
        return known->second;
    }
    const std::size_t next = m_rows.size();
    const std::string its_name(names.find(tracer::Unit::context, context));
    const std::size_t number = m_by_name.try_emplace({context, its_name}, next).first->second;
    if (number == next) {
        m_rows.push_back(
            {.context = context,
             .name = {},
             .intervals = {"intervals", number, {"begin", "end"}, {"what", "cpu", "detail"}},
             .jobs = {"jobs", number, {"start", "end"}, {"number", "release", "deadline", "state", "shares"}},
             .shares = {"shares", number, {}, {"culprit", "ticks", "pieces"}}});
        name_row(m_rows.back(), names);
    }
    m_numbers[context] = number;
    return number;
}

void TaskRows::complete(const trace::Names& names) {
    for (TaskRow& row : m_rows) {
        name_row(row, names);
    }
}

std::span<const schedule::Change> ScheduleTables::add(const trace::Event& event, std::uint32_t khz) {
    if (event.metadata || !event.is_sound() || (event.row == nullptr && !trace::is_foreign(event))) {
        return {};
    }
    m_names = event.names;
    const auto changes = m_schedule.take(event);
    const auto before = m_intervals.last(event.cpu);
    m_intervals.take(event, changes, m_schedule);
    m_accounting.take(event, changes, m_schedule, khz);
    m_handlers.take(event, changes, m_schedule);
    m_losses.take(event, changes, before);
    m_holds.take(event, m_schedule, before);
    for (const schedule::Change& change : changes) {
        if (change.kind == schedule::Change::Kind::created) {
            m_tasks.forget(static_cast<std::uint16_t>(change.context));
        }
    }
    return changes;
}

void ScheduleTables::finish(const trace::Names& names) {
    m_names = &names;
    m_handlers.finish();
    m_holds.finish();
    m_intervals.finish();
    m_accounting.finish();
    m_tasks.complete(names);
}

// Adds an interval. Its cause is that of its end if it ended otherwise than its activity does, else that of its begin.
void ScheduleTables::add_interval(const schedule::Interval& interval) {
    const bool runs = interval.activity == Activity::running;
    if (!runs && interval.activity != Activity::ready && interval.activity != Activity::waiting) {
        return;
    }
    ++m_intervals_total;
    const std::size_t number = row_of(interval.context);
    const std::uint64_t begin = m_axis.at(interval.begin.ticks);
    const std::uint64_t end = std::max(begin, m_axis.at(interval.end.ticks));
    m_overview.add(number, interval.activity, begin, end);
    if (!m_axis.wants(interval.begin, interval.end)) {
        return;
    }
    const Cause cause = runs || interval.ended == Cause::records_lost ? interval.ended : interval.began;
    const std::uint32_t wait = runs ? interval.next_wait : interval.wait;
    const bool is_own = runs && interval.other == interval.context;
    const std::size_t other = is_own || interval.activity == Activity::ready ? 0 : link_to(interval.other);
    const std::size_t detail = wait != 0 || other != 0 ? m_details.number_of({wait, other}) + 1 : 0;
    TaskRow& row = m_tasks.row(number);
    const std::uint64_t start = std::max(begin, row.last_end); // a decreasing stamp does not shorten earlier intervals
    const std::uint64_t what =
        static_cast<std::uint64_t>(interval.activity) - 1 + (static_cast<std::uint64_t>(cause) << kCauseShift);
    row.intervals.add({start, std::max(end, start)}, {what, interval.cpu, detail});
    row.last_end = std::max(end, start);
    if (++m_intervals_stored == m_intervals_max) {
        m_is_full = true;
        m_axis.close(interval.end);
    }
}

CulpritRow ScheduleTables::row_of(const schedule::Culprit& culprit) {
    using enum schedule::By;
    const bool is_task = culprit.by == task || culprit.by == section; // the kernel is one culprit, in any context
    const bool has_number = culprit.by == interrupt || culprit.by == throttling;
    return {.part = culprit.part,
            .by = culprit.by,
            .inversion = culprit.inversion,
            .task = is_task ? link_to(culprit.who) : 0,
            .who = has_number ? culprit.who : 0,
            .object = culprit.object,
            .holder = link_to(culprit.holder),
            .chain_end = link_to(culprit.chain_end),
            .end_waits = culprit.end_waits};
}

void ScheduleTables::add_job(const schedule::JobAccount& account) {
    const schedule::Job& job = account.job;
    const std::size_t number = row_of(job.context);
    TaskRow& row = m_tasks.row(number);
    const schedule::Moment& released = job.release ? *job.release : account.ready; // the latter is that of the record
    const std::uint64_t release = m_axis.at(released.ticks);
    if (job.is_late()) {
        ++row.misses;
        const schedule::Moment& at = job.deadline ? *job.deadline : job.end ? *job.end : released;
        m_overview.add_miss(number, m_axis.at(at.ticks));
    }
    if (!m_axis.wants(released, job.end.value_or(released))) {
        const bool is_before = job.end && m_axis.window().from_ns && job.end->ns < m_axis.window().from_ns;
        row.jobs_before += is_before ? 1U : 0U;
        return;
    }
    const auto time = [this](const std::optional<schedule::Moment>& at) { return at ? m_axis.at(at->ticks) : kNoTime; };
    std::map<std::size_t, std::pair<std::uint64_t, std::uint64_t>> shares; // ticks and pieces, by culprit
    for (const schedule::Share& share : account.shares) {
        if (account.is_known()) {
            auto& [ticks, pieces] = shares[m_culprits.number_of(row_of(share.culprit))];
            ticks += share.ticks.value;
            pieces += share.pieces;
        }
    }
    const std::uint64_t state = static_cast<std::uint64_t>(job.outcome) |
                                (job.is_late() ? std::uint64_t{1} << kLateShift : 0) |
                                static_cast<std::uint64_t>(account.unaccounted) << kUnaccountedShift;
    const std::uint64_t deadline = job.deadline ? since(m_axis.at(job.deadline->ticks), release) + 1 : 0;
    row.jobs.add({time(job.start), time(job.end)},
                 {since(job.number, row.last_job), since(release, row.last_release), deadline, state, shares.size()});
    for (const auto& [culprit, sum] : shares) {
        row.shares.add({}, {culprit, sum.first, sum.second});
    }
    row.last_job = job.number;
    row.last_release = release;
}

void ScheduleTables::add_handler(const schedule::Handler& handler) {
    if (!m_axis.wants(handler.begin, handler.end.value_or(handler.begin))) {
        return;
    }
    Table& table = table_of(m_handler_tables, handler.cpu, "handlers", {"vector", "depth", "task"});
    const std::uint64_t begin = m_axis.at(handler.begin.ticks);
    table.add({begin, handler.end ? std::max(begin, m_axis.at(handler.end->ticks)) : kNoTime},
              {handler.vector, handler.depth, link_to(handler.task)});
}

void ScheduleTables::add_loss(const schedule::Loss& loss) {
    const std::uint64_t end = m_axis.at(loss.end.ticks);
    const std::uint64_t begin = std::min(end, loss.begin ? m_axis.at(loss.begin->ticks) : 0);
    table_of(m_loss_tables, loss.cpu, "losses", {"records"}).add({begin, end}, {loss.records});
}

void ScheduleTables::add_hold(const schedule::Hold& hold) {
    if (!m_axis.wants(hold.begin, hold.end.value_or(hold.begin))) {
        return;
    }
    const std::uint64_t begin = m_axis.at(hold.begin.ticks);
    const std::uint64_t end = hold.end ? std::max(begin, m_axis.at(hold.end->ticks)) : begin;
    table_of(m_hold_tables, hold.mutex, "holds", {"task", "how"})
        .add({begin, end}, {row_of(hold.context), static_cast<std::uint64_t>(hold.how)});
}

// --- overview --------------------------------------------------------------------------------------------------------

// Returns the buckets of a task, after making room for a time.
Overview::Buckets& Overview::of(std::size_t task, std::uint64_t last) {
    while (last / m_bucket_ticks >= kBuckets) {
        m_bucket_ticks *= 2;
        for (Buckets& buckets : m_tasks) {
            for (std::size_t i = 0; i < kBuckets; ++i) {
                Bucket sum;
                if (i < kBuckets / 2) {
                    sum = buckets[2 * i];
                    const Bucket& other = buckets[2 * i + 1];
                    std::ranges::transform(sum.ticks, other.ticks, sum.ticks.begin(), std::plus());
                    sum.misses += other.misses;
                }
                buckets[i] = sum;
            }
        }
    }
    while (m_tasks.size() <= task) {
        m_tasks.emplace_back(kBuckets);
    }
    return m_tasks[task];
}

void Overview::add(std::size_t task, schedule::Activity activity, std::uint64_t begin, std::uint64_t end) {
    using enum schedule::Activity;
    if (activity != running && activity != ready && activity != waiting) {
        return;
    }
    const auto which = static_cast<std::size_t>(activity) - static_cast<std::size_t>(running);
    Buckets& buckets = of(task, end);
    while (begin < end) {
        const std::uint64_t index = begin / m_bucket_ticks;
        const std::uint64_t stop = std::min(end, (index + 1) * m_bucket_ticks);
        buckets[index].ticks[which] += stop - begin;
        begin = stop;
    }
}

void Overview::add_miss(std::size_t task, std::uint64_t at) {
    Buckets& buckets = of(task, at);
    ++buckets[at / m_bucket_ticks].misses;
}

std::vector<Table> Overview::tables(std::uint64_t last) const {
    std::vector<Table> tables;
    const auto used = std::min<std::uint64_t>(last / m_bucket_ticks + 1, kBuckets);
    for (std::size_t task = 0; task < m_tasks.size(); ++task) {
        Table& table =
            tables.emplace_back("overview", task, std::initializer_list<std::string_view>{},
                                std::initializer_list<std::string_view>{"running", "ready", "waiting", "misses"});
        for (std::size_t i = 0; i < used; ++i) {
            const Bucket& bucket = m_tasks[task][i];
            // A share that is not 0 remains visible.
            const auto share = [this](std::uint64_t ticks) {
                return (std::min(ticks, m_bucket_ticks) * kShareMax + m_bucket_ticks - 1) / m_bucket_ticks;
            };
            table.add({}, {share(bucket.ticks[0]), share(bucket.ticks[1]), share(bucket.ticks[2]), bucket.misses});
        }
    }
    return tables;
}

} // namespace host::report
