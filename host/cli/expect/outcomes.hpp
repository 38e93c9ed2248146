// SPDX-License-Identifier: MIT
// Which expectations a trace fulfils. Figures come from the tables of `remora sql`, the judgements from the oracle.
#pragma once

#include "host/analyse/oracle/verdicts.hpp"
#include "host/cli/expect/expectation.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/open_options.hpp"

#include <span>
#include <string>
#include <vector>

namespace host::cli {

struct ExpectationOutcome {
    bool holds = false;
    bool invalid = false; // an SQL statement that SQLite refuses, or that does not yield one number
    std::string found;    // printable
};

// What is known of the trace before it is asked.
struct JudgedTrace {
    const analyse::oracle::Verdicts& verdicts;
    std::string loss; // what is missing; empty: nothing
};

struct OutcomesOfTrace {
    std::vector<ExpectationOutcome> outcomes; // one for each expectation
    trace::ExitStatus status = trace::ExitStatus::clean;
};

// Reads the trace again: path is no pipe. Diagnostics of this reading are those of the first one, and not repeated.
[[nodiscard]] OutcomesOfTrace outcomes_of(std::span<const Expectation> expectations, const std::string& path,
                                          const trace::OpenOptions& options, const JudgedTrace& judged);

} // namespace host::cli
