// SPDX-License-Identifier: MIT
// A row of the table `events` has one event, with the names of its numbers. The virtual table of `remora sql` and the
// file that `remora convert --to sqlite` writes have the same columns.
#pragma once

#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"
#include "host/trace/running_tasks.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace host::sql {

enum class EventColumn : std::uint8_t {
    ticks,
    time_ns,
    cpu,
    chunk,
    record,
    family,
    code,
    event,
    state,
    par1,
    par2,
    context,
    task,
    pid,
    level,
    vector,
    interrupt,
    mutex,
    semaphore,
    condition,
    port,
    server,
    signal,
    timer,
    wait,
    parameters,
    payload, // hidden in the virtual table
};

inline constexpr std::size_t kEventColumns = 27;

struct ColumnRow {
    std::string_view name;
    std::string_view type;
};

// The columns are in the order of the enumeration.
inline constexpr std::array<ColumnRow, kEventColumns> kEventColumnRows = {{
    {"ticks", "INTEGER"},   {"time_ns", "INTEGER"}, {"cpu", "INTEGER"},    {"chunk", "INTEGER"},  {"record", "INTEGER"},
    {"family", "TEXT"},     {"code", "INTEGER"},    {"event", "TEXT"},     {"state", "TEXT"},     {"par1", "INTEGER"},
    {"par2", "INTEGER"},    {"context", "INTEGER"}, {"task", "TEXT"},      {"pid", "INTEGER"},    {"level", "TEXT"},
    {"vector", "INTEGER"},  {"interrupt", "TEXT"},  {"mutex", "TEXT"},     {"semaphore", "TEXT"}, {"condition", "TEXT"},
    {"port", "TEXT"},       {"server", "TEXT"},     {"signal", "INTEGER"}, {"timer", "INTEGER"},  {"wait", "TEXT"},
    {"parameters", "TEXT"}, {"payload", "TEXT"},
}};

// Returns the value of a column. Its text belongs to the event or is in `scratch`. task: in which an event of the
// application was logged.
[[nodiscard]] Cell event_cell(const trace::Event& event, EventColumn column, std::string& scratch,
                              trace::OptionalTask task);

} // namespace host::sql
