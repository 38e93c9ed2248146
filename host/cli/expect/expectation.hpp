// SPDX-License-Identifier: MIT
// Reads a file of expectations of a trace strictly. Each is a line, such as `worst sensor response <= 3ms`.
//
//   line       = [figure [[comparison] value]] ["#" comment]
//   figure     = the words of a row of kFigures; a name with blanks in it in double quotes
//   comparison = "=" (may be left out) | "!=" | "<" | "<=" | ">" | ">="
//   value      = a number; a time such as 1500 (ns), 20us, 1.5ms, 2s; a percentage such as 12.5%
#pragma once

#include "host/analyse/oracle/verdicts.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::cli {

// The figures in a file of expectations: the words of each, what it is compared with, and its source. The parser, its
// errors and docs/ci.md derive from this list.

enum class FigureUnit : std::uint8_t {
    none, // a statement that is true or false: nothing is compared
    count,
    time,
    percent,
};

struct FigureRow {
    // A word in capitals is a name: TASK and MUTEX of the trace, RULE of `remora check --rules`, SUBJECT of its last
    // line, EVENT of `remora events`, STATEMENT a statement of SQL.
    std::string_view words;
    FigureUnit unit;
    std::string_view meaning;
    // The query yields one value; {0} and {1} are the names, as texts of SQL. Empty: `remora check` itself knows the
    // value.
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

enum class Comparison : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal };

struct Expectation {
    std::size_t line = 0; // from 1
    std::string text;     // the statement as it was written, printable
    const FigureRow* figure = nullptr;
    std::vector<std::string> names; // in the order of the figure's words in capitals
    Comparison comparison = Comparison::equal;
    long double value = 0; // in ns, in percent, or a plain number

    [[nodiscard]] bool holds_for(long double found) const;
};

struct Expectations {
    std::vector<Expectation> list;
    std::vector<std::string> errors; // LINE:COLUMN: what is wrong, and the remedy
};

// Returns at least one expectation, or an error.
[[nodiscard]] Expectations parse_expectations(std::string_view text_untrusted);

// Returns a value of the unit, as a file would have it.
[[nodiscard]] std::string value_text(FigureUnit unit, long double value);

// The result of an expectation. Figures come from the tables of `remora sql`, the judgements from the oracle.
struct ExpectationOutcome {
    bool holds = false;
    bool invalid = false; // an SQL statement that SQLite rejects, that does not yield one number, or takes too long
    bool stopped = false; // it takes too long
    std::string found;    // printable
};

// Holds what is known of the trace before the figures are computed.
struct JudgedTrace {
    const analyse::oracle::Verdicts& verdicts;
    std::string loss; // what is missing; empty: nothing
};

struct OutcomesOfTrace {
    std::vector<ExpectationOutcome> outcomes; // one for each expectation
    trace::ExitStatus status = trace::ExitStatus::clean;
};

// States how the figures of the trace are computed.
struct AskOptions {
    std::string path; // not a pipe, because the trace is read again
    trace::OpenOptions open;
    std::chrono::milliseconds limit{}; // of each statement `sql`
};

// Computes the outcomes. Diagnostics of this reading are those of the first one, and are not repeated. status: damaged
// if an expectation is not fulfilled; usage if one is invalid; timeout if a statement takes longer than the limit.
[[nodiscard]] OutcomesOfTrace outcomes_of(std::span<const Expectation> expectations, const AskOptions& options,
                                          const JudgedTrace& judged);

// The type of outcomes_of(); a program without the tables of `remora sql` has none.
using OutcomesOf = OutcomesOfTrace (*)(std::span<const Expectation>, const AskOptions&, const JudgedTrace&);

} // namespace host::cli
