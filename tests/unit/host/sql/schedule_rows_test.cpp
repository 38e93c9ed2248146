// SPDX-License-Identifier: MIT
// Tests times of rows at the ends of what a number holds. What the rows are: tests/unit/host/cli and
// tests/unit/host/schedule.
#include "host/sql/schedule_rows.hpp"

#include "host/trace/names.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace host::sql {

namespace {

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// As a query gets it.
std::int64_t number_in(const Cell& cell) {
    sqlite3* database = nullptr;
    sqlite3_stmt* statement = nullptr;
    sqlite3_open(":memory:", &database);
    sqlite3_prepare_v2(database, "select ?", -1, &statement, nullptr);
    cell.bind(statement, 1);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    EXPECT_EQ(sqlite3_column_type(statement, 0), SQLITE_INTEGER);
    const std::int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return number;
}

// The length of a handler that began and ended at these times.
std::optional<std::int64_t> length_of_handler(std::int64_t begin, std::int64_t end) {
    std::optional<std::int64_t> length;
    const RowSink sink = [&length](Table table, std::span<const Cell> cells) {
        if (table == Table::interrupts) {
            length = number_in(cells.back());
        }
    };
    ScheduleRows rows(sink);
    const trace::Names names;
    const trace::TraceFacts facts;
    const auto add = [&](std::string_view name, std::int64_t time_ns) {
        const tracer::EventRow* const row = tracer::find_event(name);
        rows.add({.ticks = {},
                  .time_ns = time_ns,
                  .timed = true,
                  .row = row,
                  .raw_code = row->code,
                  .code = row->code,
                  .payload = {},
                  .names = &names,
                  .foreign_name = {},
                  .words = {}},
                 facts);
    };
    add("interrupt_start", begin);
    add("interrupt_end", end);
    rows.finish(names);
    return length;
}

TEST(ScheduleRows, LengthsBeyond63BitsAreSaturated) {
    EXPECT_EQ(length_of_handler(100, 250), 150);
    EXPECT_EQ(length_of_handler(kFirst, -1), kLast);
    EXPECT_EQ(length_of_handler(kFirst, kLast), kLast);
    EXPECT_EQ(length_of_handler(-2, kLast), kLast);
    EXPECT_EQ(length_of_handler(kLast, kFirst), kFirst);
    EXPECT_EQ(length_of_handler(2, kFirst), kFirst);
}

} // namespace

} // namespace host::sql
