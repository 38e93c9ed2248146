// SPDX-License-Identifier: MIT
// Declares the tables and views that a trace has in SQL, beside `events` (event_columns.hpp). `remora sql` and the file
// that `remora convert --to sqlite` writes create them from this declaration; docs/sql.md explains the columns.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <sqlite3.h>
#include <string_view>
#include <utility>
#include <vector>

namespace host::sql {

// Is one value of a row, on its way into SQLite.
class Cell {
  public:
    // The cell is NULL.
    Cell() = default;

    // A number that exceeds 63 bits becomes 2^63-1, SQLite's greatest integer.
    explicit Cell(std::integral auto number)
        : m_kind(Kind::integer) {
        if (std::in_range<std::int64_t>(number)) {
            m_number = static_cast<std::int64_t>(number);
        } else {
            m_number = std::numeric_limits<std::int64_t>::max();
        }
    }

    // The number is not negative, so its bits have its order.
    [[nodiscard]] static Cell real(double number) {
        Cell cell;
        cell.m_kind = Kind::real;
        cell.m_number = std::bit_cast<std::int64_t>(number);
        return cell;
    }

    // The text must outlive the cell. It is cut at a zero byte, which no SQL text has.
    explicit Cell(std::string_view text)
        : m_kind(Kind::text)
        , m_text(text.substr(0, std::min(text.find('\0'), text.size()))) {}

    template <typename T>
    [[nodiscard]] static Cell of(const std::optional<T>& value) {
        return value ? Cell(*value) : Cell();
    }

    // Returns NULL if the text is empty.
    [[nodiscard]] static Cell named(std::string_view text) { return text.empty() ? Cell() : Cell(text); }

    // Returns nothing if the cell is not a text.
    [[nodiscard]] std::optional<std::string_view> text() const {
        return m_kind == Kind::text ? std::optional(m_text) : std::nullopt;
    }

    // Returns nothing if the cell is not a number; a fraction is returned as its bits.
    [[nodiscard]] std::optional<std::int64_t> number() const {
        return m_kind == Kind::integer || m_kind == Kind::real ? std::optional(m_number) : std::nullopt;
    }

    [[nodiscard]] bool is_null() const { return m_kind == Kind::null; }

    // Binds the value to parameter `place` (from 1) of a statement. The text must live until the next step, which also
    // shows a failure.
    void bind(sqlite3_stmt* statement, int place) const {
        switch (m_kind) {
        case Kind::null:
            sqlite3_bind_null(statement, place);
            break;
        case Kind::integer:
            sqlite3_bind_int64(statement, place, m_number);
            break;
        case Kind::real:
            sqlite3_bind_double(statement, place, std::bit_cast<double>(m_number));
            break;
        case Kind::text:
            sqlite3_bind_text64(statement, place, bytes(), m_text.size(), SQLITE_STATIC, SQLITE_UTF8);
            break;
        }
    }

    // Returns the value as the result of a column.
    void result(sqlite3_context* context) const {
        switch (m_kind) {
        case Kind::null:
            sqlite3_result_null(context);
            break;
        case Kind::integer:
            sqlite3_result_int64(context, m_number);
            break;
        case Kind::real:
            sqlite3_result_double(context, std::bit_cast<double>(m_number));
            break;
        case Kind::text:
            sqlite3_result_text64(context, bytes(), m_text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
            break;
        }
    }

  private:
    // A null pointer is SQLite's NULL, and an empty view may have one.
    [[nodiscard]] const char* bytes() const { return m_text.empty() ? "" : m_text.data(); }

    enum class Kind : std::uint8_t { null, integer, real, text };

    Kind m_kind = Kind::null;
    std::int64_t m_number = 0;
    std::string_view m_text;
};

enum class Table : std::uint8_t {
    tasks,       // one row per context
    names,       // what else has a name: vectors, mutexes, semaphores, ...
    chunks,      // one row per chunk, as its head describes it
    meta,        // key and value: the clock, the build, the totals
    jobs,        // one row per job of a task
    intervals,   // how long a task was running, ready or blocked
    interrupts,  // one row per handled interrupt
    losses,      // where records are missing
    holds,       // who held which mutex
    shares,      // of each job, what its response time consists of
    preemptions, // when a job lost its processor, and to which task
    utilisation, // what each processor did; of windows of time, if it is asked as a function
};

inline constexpr std::size_t kTables = 12;

using TableSet = std::bitset<kTables>;

struct TableRow {
    std::string_view name;
    std::string_view columns; // as CREATE TABLE takes them
};

// The rows are in the order of the enumeration. Times are nanoseconds since the start of the trace; what is not known
// is NULL.
inline constexpr std::array<TableRow, kTables> kTableRows = {{
    {"tasks", "context INTEGER, pid INTEGER, name TEXT, level TEXT, wcet_ns INTEGER, period_ns INTEGER, "
              "deadline_ns INTEGER, budget_ns INTEGER, offset_ns INTEGER"},
    {"names", "kind TEXT, id INTEGER, name TEXT"},
    {"chunks", "file TEXT, chunk INTEGER, cpu INTEGER, generation INTEGER, encoding TEXT, records INTEGER, "
               "events INTEGER, dropped INTEGER, refused INTEGER, overwritten INTEGER"},
    {"meta", "key TEXT, value TEXT"},
    {"jobs",
     "task TEXT, context INTEGER, job INTEGER, release_ns INTEGER, start_ns INTEGER, end_ns INTEGER, "
     "deadline_ns INTEGER, response_ns INTEGER, missed INTEGER, outcome TEXT, cpu INTEGER, ready_ns INTEGER, "
     "jitter_ns INTEGER, start_latency_ns INTEGER, span_ns INTEGER, lateness_ns INTEGER, execution_ns INTEGER, "
     "gross_ns INTEGER, interference_ns INTEGER, by_tasks_ns INTEGER, by_interrupts_ns INTEGER, by_kernel_ns INTEGER, "
     "throttled_ns INTEGER, blocking_ns INTEGER, bounded_ns INTEGER, unbounded_ns INTEGER, suspension_ns INTEGER, "
     "tracing_ns INTEGER, records INTEGER, dispatches INTEGER, preemptions INTEGER, migrations INTEGER, "
     "release_ticks INTEGER, ready_ticks INTEGER, start_ticks INTEGER, end_ticks INTEGER, deadline_ticks INTEGER, "
     "response_ticks INTEGER, jitter_ticks INTEGER, execution_ticks INTEGER, gross_ticks INTEGER, "
     "interference_ticks INTEGER, blocking_ticks INTEGER, suspension_ticks INTEGER, residue_ticks INTEGER"},
    {"intervals", "task TEXT, context INTEGER, cpu INTEGER, state TEXT, begin_ns INTEGER, end_ns INTEGER, "
                  "duration_ns INTEGER, reason TEXT, holder TEXT, holder_context INTEGER"},
    {"interrupts", "vector INTEGER, name TEXT, cpu INTEGER, task TEXT, depth INTEGER, begin_ns INTEGER, "
                   "end_ns INTEGER, duration_ns INTEGER"},
    {"losses", "cpu INTEGER, begin_ns INTEGER, end_ns INTEGER, records INTEGER"},
    {"holds", "mutex TEXT, mutex_id INTEGER, task TEXT, context INTEGER, begin_ns INTEGER, end_ns INTEGER, "
              "duration_ns INTEGER, reason TEXT"},
    {"shares",
     "task TEXT, context INTEGER, job INTEGER, part TEXT, culprit TEXT, who TEXT, who_id INTEGER, mutex TEXT, "
     "mutex_id INTEGER, holder TEXT, holder_context INTEGER, inversion TEXT, waits_for TEXT, ticks INTEGER, "
     "ns INTEGER, records INTEGER, pieces INTEGER, longest_ticks INTEGER, longest_ns INTEGER, "
     "longest_begin_ticks INTEGER, longest_cpu INTEGER, longest_chunk INTEGER, longest_record INTEGER"},
    {"preemptions",
     "task TEXT, context INTEGER, job INTEGER, by_task TEXT, by_context INTEGER, cpu INTEGER, begin_ns INTEGER, "
     "end_ns INTEGER, duration_ns INTEGER, begin_ticks INTEGER, duration_ticks INTEGER"},
    {"utilisation",
     "cpu INTEGER, begin_ns INTEGER, end_ns INTEGER, kind TEXT, task TEXT, context INTEGER, vector INTEGER, "
     "ran_ns INTEGER, ran_ticks INTEGER, share REAL"},
}};

[[nodiscard]] constexpr const TableRow& row_of(Table table) {
    return kTableRows[static_cast<std::size_t>(table)];
}

[[nodiscard]] constexpr int column_count(Table table) {
    int count = 1;
    for (const char character : row_of(table).columns) {
        count += character == ',' ? 1 : 0;
    }
    return count;
}

struct Column {
    std::string_view name;
    bool is_text = false;
    bool is_real = false;
};

// Returns the columns in their order.
[[nodiscard]] inline std::vector<Column> columns_of(Table table) {
    std::vector<Column> columns;
    for (std::string_view rest = row_of(table).columns; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(one.size() + 2, rest.size()));
        columns.push_back(
            {.name = one.substr(0, one.find(' ')), .is_text = one.ends_with("TEXT"), .is_real = one.ends_with("REAL")});
    }
    return columns;
}

// Takes a row; its cells are valid during the call.
using RowSink = std::function<void(Table table, std::span<const Cell> cells)>;

// Indices that make joins and searches fast. They are created after the rows, which costs less.
struct IndexRow {
    Table table;
    std::string_view definition; // as CREATE INDEX takes it
};

inline constexpr std::array kIndexRows = {
    IndexRow{Table::jobs, "jobs_by_task ON jobs(task, release_ns)"},
    IndexRow{Table::shares, "shares_by_job ON shares(context, job)"},
    IndexRow{Table::intervals, "intervals_by_task ON intervals(task, begin_ns)"},
    IndexRow{Table::intervals, "intervals_by_time ON intervals(begin_ns)"},
    IndexRow{Table::interrupts, "interrupts_by_time ON interrupts(begin_ns)"},
};

// Views answer what people ask first. Tasks are grouped by context and name: two tasks of one name remain two, and so
// do two tasks that had a context in turn.
struct ViewRow {
    std::string_view name;
    std::string_view query;
};

inline constexpr std::array kViewRows = {
    ViewRow{"running", "SELECT task, context, cpu, begin_ns, end_ns, duration_ns, reason FROM intervals "
                       "WHERE state = 'running'"},
    ViewRow{"blocked", "SELECT task, context, begin_ns, end_ns, duration_ns, reason FROM intervals "
                       "WHERE state = 'blocked'"},
    ViewRow{"mutexes", "SELECT id, name FROM names WHERE kind = 'mutex'"},
    ViewRow{"responses",
            "SELECT task, context, sum(done) AS jobs, min(ns) AS least_ns, CAST(avg(ns) AS INTEGER) AS mean_ns, "
            "max(ns) AS greatest_ns, sum(missed) AS missed, min(ticks) AS least_ticks, "
            "sum(ticks) / count(ticks) AS mean_ticks, max(ticks) AS greatest_ticks FROM (SELECT task, context, missed, "
            "outcome = 'completed' AS done, iif(outcome = 'completed', response_ns, NULL) AS ns, "
            "iif(outcome = 'completed', response_ticks, NULL) AS ticks FROM jobs) "
            "GROUP BY task, context HAVING sum(done) > 0"},
    // The rows are waits for a mutex. The holder is that at the begin, NULL if it is not recorded. When the mutex
    // changes hands, the wait ends; if it continues, another one begins.
    ViewRow{"blocking", "SELECT task, context, substr(reason, 7) AS mutex, holder, holder_context, begin_ns, end_ns, "
                        "duration_ns FROM intervals WHERE state = 'blocked' AND substr(reason, 1, 6) = 'mutex '"},
    // There is a row for each missed job and each other task that ran between its release and its end (its deadline, if
    // the end is not known), and one row with NULL if none did. No interval is longer than the longest one, so the
    // index of begins finds all of them. The + keeps SQLite from an index of its own over the states, which finds too
    // many.
    ViewRow{
        "misses",
        "SELECT jobs.task, jobs.context, job, release_ns, deadline_ns, jobs.end_ns, "
        "jobs.end_ns - deadline_ns AS late_ns, outcome, other.task AS ran, other.context AS ran_context, other.cpu, "
        "sum(min(other.end_ns, ifnull(jobs.end_ns, deadline_ns)) - max(other.begin_ns, release_ns)) AS ran_ns "
        "FROM jobs LEFT JOIN intervals AS other ON +other.state = 'running' AND other.context != jobs.context "
        "AND other.begin_ns < ifnull(jobs.end_ns, deadline_ns) AND other.end_ns > release_ns "
        "AND other.begin_ns >= release_ns - (SELECT max(duration_ns) FROM intervals WHERE state = 'running') "
        "WHERE missed = 1 GROUP BY jobs.rowid, other.task, other.context, other.cpu"},
};

} // namespace host::sql
