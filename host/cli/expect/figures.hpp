// SPDX-License-Identifier: MIT
// What a file of expectations can say about a trace: the words of each figure, what it is compared with, and where it
// comes from. The one list: the parser, its errors and docs/ci.md derive from it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace host::cli {

enum class FigureUnit : std::uint8_t {
    none, // a statement that holds or not: nothing is compared
    count,
    time,
    percent,
};

struct FigureRow {
    // A word in capitals is any name: TASK and MUTEX of the trace, RULE of `remora check --rules`, SUBJECT of its last
    // line, EVENT of `remora events`, STATEMENT one of SQL.
    std::string_view words;
    FigureUnit unit;
    std::string_view meaning;
    // One value; {0} and {1} are the names, as texts of SQL. Empty: `remora check` itself knows it.
    std::string_view query{};
};

inline constexpr std::array kFigures = {
    FigureRow{"no violation", FigureUnit::none, "something was decided, and no rule is violated"},
    FigureRow{"no violation of RULE", FigureUnit::none, "likewise, of one rule"},
    FigureRow{"no loss", FigureUnit::none,
              "every record of the run is in the trace: the verdict of `remora summary`, "
              "and none was dropped for want of space"},
    FigureRow{"decided SUBJECT", FigureUnit::count, "how many dispatches, deadlines, budgets, ... were judged"},
    FigureRow{"jobs TASK", FigureUnit::count, "completed jobs",
              "SELECT count(*) FROM jobs WHERE task = {0} AND outcome = 'completed'"},
    FigureRow{"aborted TASK", FigureUnit::count, "aborted jobs",
              "SELECT count(*) FROM jobs WHERE task = {0} AND outcome = 'aborted'"},
    FigureRow{"missed TASK", FigureUnit::count, "jobs that were not complete at their deadline",
              "SELECT count(*) FROM jobs WHERE task = {0} AND missed"},
    FigureRow{"best TASK response", FigureUnit::time, "shortest response time of its completed jobs",
              "SELECT min(response_ns) FROM jobs WHERE task = {0} AND outcome = 'completed'"},
    FigureRow{"mean TASK response", FigureUnit::time, "mean, likewise",
              "SELECT CAST(avg(response_ns) AS INTEGER) FROM jobs WHERE task = {0} AND outcome = 'completed'"},
    FigureRow{"worst TASK response", FigureUnit::time, "longest, likewise",
              "SELECT max(response_ns) FROM jobs WHERE task = {0} AND outcome = 'completed'"},
    FigureRow{"worst TASK blocking", FigureUnit::time, "longest wait for a mutex; 0 without one",
              "SELECT ifnull(max(duration_ns), 0) FROM blocking WHERE task = {0}"},
    FigureRow{"ran TASK", FigureUnit::time, "processor time, interrupts in it included",
              "SELECT ifnull(sum(duration_ns), 0) FROM running WHERE task = {0}"},
    FigureRow{"share TASK", FigureUnit::percent, "processor time without interrupts, of all",
              "SELECT ifnull(100.0 * sum(share), 0.0) FROM utilisation WHERE task = {0}"},
    FigureRow{"preempted TASK", FigureUnit::count, "how often another task took the processor from it",
              "SELECT count(*) FROM running WHERE task = {0} AND reason = 'preempted'"},
    FigureRow{"holds MUTEX TASK", FigureUnit::count, "how often the task has held the mutex",
              "SELECT count(*) FROM holds WHERE mutex = {0} AND task = {1}"},
    FigureRow{"waits MUTEX TASK", FigureUnit::count, "how often the task has waited for the mutex",
              "SELECT count(*) FROM blocking WHERE mutex = {0} AND task = {1}"},
    FigureRow{"worst MUTEX hold", FigureUnit::time, "longest time that a task has held the mutex; 0 without one",
              "SELECT ifnull(max(duration_ns), 0) FROM holds WHERE mutex = {0}"},
    FigureRow{"events EVENT", FigureUnit::count, "records of this event",
              "SELECT count(*) FROM events WHERE event = {0}"},
    FigureRow{"sql STATEMENT", FigureUnit::count, "the one number that the SELECT, in quotes, yields (docs/sql.md)"},
};

} // namespace host::cli
