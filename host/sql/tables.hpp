// SPDX-License-Identifier: MIT
// The tables beside `events`, and their columns. `remora sql` computes them when they are asked for; the file that
// `remora convert --to sqlite` writes holds them.
#pragma once

#include "host/sql/cell.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace host::sql {

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

struct TableRow {
    std::string_view name;
    std::string_view columns;    // as `create table` wants them
    std::string_view begin{};    // the column with the time at which what the row is about begins; empty: none
    std::string_view end{};      // likewise, where it ends: never earlier
    bool follows_events = true;  // else it is small: the metadata fills it, or a pass of its own
    std::string_view argument{}; // as a function of this, it has other rows; empty: it is none
};

// In the order of the enumeration. Times in nanoseconds since the start of the trace; NULL where nothing is known.
inline constexpr std::array<TableRow, kTables> kTableRows = {{
    {"tasks",
     "context INTEGER, pid INTEGER, name TEXT, level TEXT, wcet_ns INTEGER, period_ns INTEGER, "
     "deadline_ns INTEGER, budget_ns INTEGER, offset_ns INTEGER",
     {},
     {},
     false},
    {"names", "kind TEXT, id INTEGER, name TEXT", {}, {}, false},
    {"chunks",
     "file TEXT, chunk INTEGER, cpu INTEGER, generation INTEGER, encoding TEXT, records INTEGER, "
     "events INTEGER, dropped INTEGER, refused INTEGER, overwritten INTEGER",
     {},
     {},
     false},
    {"meta", "key TEXT, value TEXT", {}, {}, false},
    {"jobs",
     "task TEXT, context INTEGER, job INTEGER, release_ns INTEGER, start_ns INTEGER, end_ns INTEGER, "
     "deadline_ns INTEGER, response_ns INTEGER, missed INTEGER, outcome TEXT, cpu INTEGER, ready_ns INTEGER, "
     "jitter_ns INTEGER, start_latency_ns INTEGER, span_ns INTEGER, lateness_ns INTEGER, execution_ns INTEGER, "
     "gross_ns INTEGER, interference_ns INTEGER, by_tasks_ns INTEGER, by_interrupts_ns INTEGER, by_kernel_ns INTEGER, "
     "throttled_ns INTEGER, blocking_ns INTEGER, bounded_ns INTEGER, unbounded_ns INTEGER, suspension_ns INTEGER, "
     "tracing_ns INTEGER, records INTEGER, dispatches INTEGER, preemptions INTEGER, migrations INTEGER, "
     "release_ticks INTEGER, ready_ticks INTEGER, start_ticks INTEGER, end_ticks INTEGER, deadline_ticks INTEGER, "
     "response_ticks INTEGER, jitter_ticks INTEGER, execution_ticks INTEGER, gross_ticks INTEGER, "
     "interference_ticks INTEGER, blocking_ticks INTEGER, suspension_ticks INTEGER, residue_ticks INTEGER",
     "release_ns", "end_ns"},
    {"intervals",
     "task TEXT, context INTEGER, cpu INTEGER, state TEXT, begin_ns INTEGER, end_ns INTEGER, "
     "duration_ns INTEGER, reason TEXT, holder TEXT, holder_context INTEGER",
     "begin_ns", "end_ns"},
    {"interrupts",
     "vector INTEGER, name TEXT, cpu INTEGER, task TEXT, depth INTEGER, begin_ns INTEGER, "
     "end_ns INTEGER, duration_ns INTEGER",
     "begin_ns", "end_ns"},
    {"losses", "cpu INTEGER, begin_ns INTEGER, end_ns INTEGER, records INTEGER", "begin_ns", "end_ns"},
    {"holds",
     "mutex TEXT, mutex_id INTEGER, task TEXT, context INTEGER, begin_ns INTEGER, end_ns INTEGER, "
     "duration_ns INTEGER, reason TEXT",
     "begin_ns", "end_ns"},
    {"shares",
     "task TEXT, context INTEGER, job INTEGER, part TEXT, culprit TEXT, who TEXT, who_id INTEGER, mutex TEXT, "
     "mutex_id INTEGER, holder TEXT, holder_context INTEGER, inversion TEXT, waits_for TEXT, ticks INTEGER, "
     "ns INTEGER, records INTEGER, pieces INTEGER, longest_ticks INTEGER, longest_ns INTEGER, "
     "longest_begin_ticks INTEGER, longest_cpu INTEGER, longest_chunk INTEGER, longest_record INTEGER"},
    {"preemptions",
     "task TEXT, context INTEGER, job INTEGER, by_task TEXT, by_context INTEGER, cpu INTEGER, begin_ns INTEGER, "
     "end_ns INTEGER, duration_ns INTEGER, begin_ticks INTEGER, duration_ticks INTEGER",
     "begin_ns", "end_ns"},
    {"utilisation",
     "cpu INTEGER, begin_ns INTEGER, end_ns INTEGER, kind TEXT, task TEXT, context INTEGER, vector INTEGER, "
     "ran_ns INTEGER, ran_ticks INTEGER, share REAL",
     "begin_ns", "end_ns", false, "window"},
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

// In their order.
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

// Takes a row; the cells are valid during the call.
using RowSink = std::function<void(Table table, std::span<const Cell> cells)>;

} // namespace host::sql
