// SPDX-License-Identifier: MIT
// Rows of `jobs` and `shares`. Durations in nanoseconds are computed from those in ticks, so they may differ by one
// from the difference of two times.
#include "host/sql/schedule_rows.hpp"

#include "host/analyse/summary.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace host::sql {

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

// In the clock's rate.
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

// Of the shares that fulfil a condition.
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

// Empty: it has no name, or is not known.
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
    // What begins or ends at a release that comes after its record is not known.
    const bool is_early = account.unaccounted == schedule::Unaccounted::early;
    const auto response = is_early ? std::nullopt : distance(job.release, job.end);
    const auto tracing = analyse::tracing_time(cost, account.records);
    const std::array cells = {
        Cell(std::string_view(name)), Cell(job.context), Cell(job.number),
        // Times.
        Cell::of(job.release.ns), time(job.start), time(job.end), time(job.deadline), ns(response),
        Cell(job.is_late() ? 1 : 0), Cell(outcome_name(job.outcome)), Cell(account.cpu), Cell::of(account.ready.ns),
        // Durations.
        part(Part::jitter), is_known ? ns(account.start_latency()) : Cell(), is_known ? ns(account.span()) : Cell(),
        ns(job.deadline && !is_early ? distance(*job.deadline, job.end) : std::nullopt), part(Part::execution),
        duration(account.gross), part(Part::interference), interference(By::task), interference(By::interrupt),
        interference(By::kernel), interference(By::throttling), part(Part::blocking), blocking(Inversion::bounded),
        blocking(Inversion::unbounded), part(Part::suspension), tracing ? duration(*tracing) : Cell(),
        if_known(account.records), if_known(account.dispatches), if_known(account.preemptions),
        if_known(account.migrations),
        // The same, exactly.
        Cell(job.release.ticks.value), Cell(account.ready.ticks.value), stamp(job.start), stamp(job.end),
        stamp(job.deadline), Cell::of(response), exactly(Part::jitter), exactly(Part::execution),
        if_known(account.gross.value), exactly(Part::interference), exactly(Part::blocking), exactly(Part::suspension),
        if_known(account.residue)};
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
        const bool has_mutex = blocks && culprit.object != 0; // none: the one that was waited for was just unlocked
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
