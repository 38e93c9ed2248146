// SPDX-License-Identifier: MIT
// The tables beside `events`, and their columns. `remora sql` computes them when they are asked for; the file that
// `remora convert --to sqlite` writes holds them.
#pragma once

#include "host/sql/cell.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace host::sql {

enum class Table : std::uint8_t {
    tasks,      // one row per context
    names,      // what else has a name: vectors, mutexes, semaphores, ...
    chunks,     // one row per chunk, as its head describes it
    meta,       // key and value: the clock, the build, the totals
    jobs,       // one row per job of a task
    intervals,  // how long a task was running, ready or blocked
    interrupts, // one row per handled interrupt
    losses,     // where records are missing
};

inline constexpr std::size_t kTables = 8;

struct TableRow {
    std::string_view name;
    std::string_view columns; // as `create table` wants them
};

// In the order of the enumeration. Times in nanoseconds since the start of the trace; NULL where nothing is known.
inline constexpr std::array<TableRow, kTables> kTableRows = {{
    {"tasks", "context INTEGER, pid INTEGER, name TEXT, level TEXT, wcet_ns INTEGER, period_ns INTEGER, "
              "deadline_ns INTEGER, budget_ns INTEGER, offset_ns INTEGER"},
    {"names", "kind TEXT, id INTEGER, name TEXT"},
    {"chunks", "file TEXT, chunk INTEGER, cpu INTEGER, generation INTEGER, encoding TEXT, records INTEGER, "
               "events INTEGER, dropped INTEGER, refused INTEGER, overwritten INTEGER"},
    {"meta", "key TEXT, value TEXT"},
    {"jobs", "task TEXT, context INTEGER, job INTEGER, release_ns INTEGER, start_ns INTEGER, end_ns INTEGER, "
             "deadline_ns INTEGER, response_ns INTEGER, missed INTEGER, outcome TEXT"},
    {"intervals", "task TEXT, context INTEGER, cpu INTEGER, state TEXT, begin_ns INTEGER, end_ns INTEGER, "
                  "duration_ns INTEGER, reason TEXT"},
    {"interrupts", "vector INTEGER, name TEXT, cpu INTEGER, task TEXT, depth INTEGER, begin_ns INTEGER, "
                   "end_ns INTEGER, duration_ns INTEGER"},
    {"losses", "cpu INTEGER, begin_ns INTEGER, end_ns INTEGER, records INTEGER"},
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

// Takes a row; the cells are valid during the call.
using RowSink = std::function<void(Table table, std::span<const Cell> cells)>;

} // namespace host::sql
