// SPDX-License-Identifier: MIT
// What the model of the schedule reports, as tables: per task its intervals and jobs, per processor its interrupt
// handlers and losses, per mutex its holds. One pass over the events; memory grows with what is in the window.
//
//   table        about      times, and numbers
//   intervals    task       begin, end; what: activity + 4 * cause; cpu; detail + 1, 0: none
//   jobs         task       start, end; number, release: zigzag, since the one before; deadline: 1 + zigzag since the
//                           release, 0: none; state: outcome + 8 * late + 16 * why its parts are not known; shares: how
//                           many rows of `shares` are the job's
//   shares       task       of what the response of each job consists: culprit, ticks, pieces
//   handlers     processor  begin, end; vector; depth; task + 1
//   losses       processor  begin, end; records
//   holds        mutex      begin, end; task; how it ended
//
// Times are ticks (columns.hpp says how they are stored). The rows of intervals are those of `remora sql`: running,
// ready, waiting within a job.
#pragma once

#include "host/report/columns.hpp"
#include "host/report/overview.hpp"
#include "host/schedule/accounting.hpp"
#include "host/schedule/intervals.hpp"
#include "host/trace/names.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace host::report {

// Of an interval: what the task waits for, or will when it has run, as the parameter of task_block (0: nothing); and
// the other task: who holds it, or in whose place it runs (its row + 1, 0: none).
using Detail = std::pair<std::uint32_t, std::size_t>;

// What the shares of jobs are due to; the contexts in it are rows + 1, 0: none.
struct CulpritRow {
    schedule::Part part{};
    schedule::By by{};
    schedule::Inversion inversion{};
    std::size_t task = 0;  // that ran meanwhile, if `by` names one
    std::uint32_t who = 0; // otherwise: vector, server
    std::uint32_t object = 0;
    std::size_t holder = 0;
    std::size_t chain_end = 0;
    std::uint32_t end_waits = 0; // for what that one waits, as the parameter of task_block

    friend auto operator<=>(const CulpritRow&, const CulpritRow&) = default;
};

struct TaskRow {
    std::uint16_t context = 0;
    std::string name; // escaped, as it was first found; empty: not yet
    std::optional<tracer::TaskParameters> parameters{};
    Table intervals;
    Table jobs;
    Table shares;
    std::uint64_t last_end = 0;     // of its intervals, in ticks
    std::uint64_t last_release = 0; // of its jobs
    std::uint64_t last_job = 0;     // its number
    std::uint64_t misses = 0;
    std::uint64_t jobs_before = 0; // that ended before the part of the trace that is wanted
};

// The tasks of a report, numbered in the order in which they appear. A context that is given to a task of another name
// is another row.
class TaskRows {
  public:
    // names: when it is asked for.
    [[nodiscard]] std::size_t number_of(std::uint16_t context, const trace::Names& names);

    [[nodiscard]] TaskRow& row(std::size_t number) { return m_rows[number]; }

    // From here on the context is another task's, perhaps of the same name.
    void forget(std::uint16_t context) { m_numbers.erase(context); }

    // What was not known when a row began. names: of the whole trace.
    void complete(const trace::Names& names);

    [[nodiscard]] const std::deque<TaskRow>& rows() const { return m_rows; }

  private:
    std::deque<TaskRow> m_rows;
    std::map<std::uint16_t, std::size_t> m_numbers; // by context: that of its task now
    std::map<std::pair<std::uint16_t, std::string>, std::size_t> m_by_name;
};

class ScheduleTables {
  public:
    // Both outlive this. intervals_max: with more, the window ends where they were reached.
    ScheduleTables(Axis& axis, std::uint64_t intervals_max)
        : m_axis(axis)
        , m_intervals_max(intervals_max) {}

    ScheduleTables(const ScheduleTables&) = delete;
    ScheduleTables& operator=(const ScheduleTables&) = delete;

    // In time order, after the axis saw it. khz: the clock's rate as far as it is known, else 0. Returns what the event
    // changes, as Schedule::take.
    std::span<const schedule::Change> add(const trace::Event& event, std::uint32_t khz);

    // After the last event. names: of the whole trace.
    void finish(const trace::Names& names);

    [[nodiscard]] const schedule::Schedule& schedule() const { return m_schedule; }

    [[nodiscard]] TaskRows& tasks() { return m_tasks; }

    [[nodiscard]] const Overview& overview() const { return m_overview; }

    [[nodiscard]] std::span<const Detail> details() const { return m_details.values(); }

    [[nodiscard]] std::span<const CulpritRow> culprits() const { return m_culprits.values(); }

    [[nodiscard]] const std::map<std::uint16_t, Table>& handlers() const { return m_handler_tables; }

    [[nodiscard]] const std::map<std::uint16_t, Table>& losses() const { return m_loss_tables; }

    [[nodiscard]] const std::map<std::uint32_t, Table>& holds() const { return m_hold_tables; }

    [[nodiscard]] std::uint64_t intervals() const { return m_intervals_total; }

    // The page holds less than was asked for.
    [[nodiscard]] bool is_full() const { return m_is_full; }

  private:
    [[nodiscard]] std::size_t row_of(std::uint32_t context) {
        return m_tasks.number_of(static_cast<std::uint16_t>(context), *m_names);
    }

    // As in the tables: its number + 1, 0 for a context that is no task's.
    [[nodiscard]] std::size_t link_to(std::uint32_t context) {
        return context < schedule::kContexts ? row_of(context) + 1 : 0;
    }

    void add_interval(const schedule::Interval& interval);
    void add_job(const schedule::JobAccount& account);
    [[nodiscard]] CulpritRow row_of(const schedule::Culprit& culprit);
    void add_handler(const schedule::Handler& handler);
    void add_loss(const schedule::Loss& loss);
    void add_hold(const schedule::Hold& hold);

    Axis& m_axis;
    std::uint64_t m_intervals_max;
    std::uint64_t m_intervals_total = 0;
    std::uint64_t m_intervals_stored = 0;
    bool m_is_full = false;
    schedule::Schedule m_schedule;
    schedule::Intervals m_intervals{[this](const schedule::Interval& interval) { add_interval(interval); }};
    schedule::Accounting m_accounting{[this](const schedule::JobAccount& account) { add_job(account); }};
    schedule::Handlers m_handlers{[this](const schedule::Handler& handler) { add_handler(handler); }};
    schedule::Losses m_losses{[this](const schedule::Loss& loss) { add_loss(loss); }};
    schedule::Holds m_holds{[this](const schedule::Hold& hold) { add_hold(hold); }};
    TaskRows m_tasks;
    Overview m_overview;
    Dictionary<Detail> m_details;
    Dictionary<CulpritRow> m_culprits;
    std::map<std::uint16_t, Table> m_handler_tables;
    std::map<std::uint16_t, Table> m_loss_tables;
    std::map<std::uint32_t, Table> m_hold_tables;
    const trace::Names* m_names = nullptr; // of the latest event; after it, of the trace
};

} // namespace host::report
