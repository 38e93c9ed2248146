// SPDX-License-Identifier: MIT
// Stores what the model of the schedule reports as tables: for each task its intervals and jobs, for each processor its
// interrupt handlers and losses, for each mutex its holds. There is one pass over the events, and memory grows with the
// contents of the window.
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
#include "host/schedule/accounting.hpp"
#include "host/schedule/intervals.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::report {

// Counts what each task did over the whole trace, in at most kBuckets buckets of equal length: how long it ran, was
// ready, was held up, and how many deadlines it missed. The page shows this where it has no intervals. The length of a
// bucket doubles whenever the trace exceeds the buckets, so one pass suffices, and memory depends on the number of
// tasks.
class Overview {
  public:
    static constexpr std::size_t kBuckets = 2048;
    static constexpr std::uint64_t kShareMax = 255; // a whole bucket

    // begin, end: ticks since the start of the trace. Activities other than running, ready and waiting are not counted.
    void add(std::size_t task, schedule::Activity activity, std::uint64_t begin, std::uint64_t end);

    void add_miss(std::size_t task, std::uint64_t at);

    [[nodiscard]] std::uint64_t bucket_ticks() const { return m_bucket_ticks; }

    // Returns a table for each task, up to this time.
    [[nodiscard]] std::vector<Table> tables(std::uint64_t last) const;

  private:
    struct Bucket {
        std::array<std::uint64_t, 3> ticks{}; // running, ready, waiting
        std::uint64_t misses = 0;
    };

    using Buckets = std::vector<Bucket>;

    [[nodiscard]] Buckets& of(std::size_t task, std::uint64_t last);

    std::uint64_t m_bucket_ticks = 1;
    std::vector<Buckets> m_tasks;
};

// Details of an interval: what the task waits for, or will wait for after it has run, as the parameter of task_block
// (0: nothing); and the other task: the one that holds it, or the one in whose place it runs (its row + 1, 0: none).
using Detail = std::pair<std::uint32_t, std::size_t>;

// The culprit of shares of jobs; its contexts are rows + 1, 0: none.
struct CulpritRow {
    schedule::Part part{};
    schedule::By by{};
    schedule::Inversion inversion{};
    std::size_t task = 0;  // the task that ran meanwhile, if `by` names one
    std::uint32_t who = 0; // otherwise: vector, server
    std::uint32_t object = 0;
    std::size_t holder = 0;
    std::size_t chain_end = 0;
    std::uint32_t end_waits = 0; // what that task waits for, as the parameter of task_block

    friend auto operator<=>(const CulpritRow&, const CulpritRow&) = default;
};

struct TaskRow {
    std::uint16_t context = 0;
    std::string name; // escaped; the first name that was found; empty: none yet
    std::optional<tracer::TaskParameters> parameters{};
    Table intervals;
    Table jobs;
    Table shares;
    std::uint64_t last_end = 0;     // end of the last interval, in ticks
    std::uint64_t last_release = 0; // of its jobs
    std::uint64_t last_job = 0;     // number of the last job
    std::uint64_t misses = 0;
    std::uint64_t jobs_before = 0; // number of jobs that ended before the selected part of the trace
};

// The tasks of a report, numbered in the order in which they appear. If a context is given to a task of another name,
// this is another row.
class TaskRows {
  public:
    // names: those at the time of the call.
    [[nodiscard]] std::size_t number_of(std::uint16_t context, const trace::Names& names);

    [[nodiscard]] TaskRow& row(std::size_t number) { return m_rows[number]; }

    // From here on the context belongs to another task, which may have the same name.
    void forget(std::uint16_t context) { m_numbers.erase(context); }

    // Completes names that were not known when a row began. names: those of the whole trace.
    void complete(const trace::Names& names);

    [[nodiscard]] const std::deque<TaskRow>& rows() const { return m_rows; }

  private:
    std::deque<TaskRow> m_rows;
    std::map<std::uint16_t, std::size_t> m_numbers; // by context: the row of its present task
    std::map<std::pair<std::uint16_t, std::string>, std::size_t> m_by_name;
};

class ScheduleTables {
  public:
    // The axis must outlive this object. intervals_max: with more intervals, the window ends where this number was
    // reached.
    ScheduleTables(Axis& axis, std::uint64_t intervals_max)
        : m_axis(axis)
        , m_intervals_max(intervals_max) {}

    ScheduleTables(const ScheduleTables&) = delete;
    ScheduleTables& operator=(const ScheduleTables&) = delete;

    // Takes events in time order, each after the axis has taken it. khz: the clock's rate as far as it is known, else
    // 0. Returns what the event changes, as Schedule::take does.
    std::span<const schedule::Change> add(const trace::Event& event, std::uint32_t khz);

    // Must be called after the last event. names: those of the whole trace.
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

    // Returns whether the page has less than was asked for.
    [[nodiscard]] bool is_full() const { return m_is_full; }

  private:
    [[nodiscard]] std::size_t row_of(std::uint32_t context) {
        return m_tasks.number_of(static_cast<std::uint16_t>(context), *m_names);
    }

    // Returns the number of the task in the tables: its row + 1, 0 for a context that has no task.
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
    const trace::Names* m_names = nullptr; // names at the latest event; at the end, of the trace
};

} // namespace host::report
