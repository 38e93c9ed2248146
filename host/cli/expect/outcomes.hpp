// SPDX-License-Identifier: MIT
// Which expectations a trace fulfils. Figures come from the tables of `remora sql`, the judgements from the oracle.
#pragma once

#include "host/analyse/oracle/verdicts.hpp"
#include "host/cli/expect/expectation.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace host::cli {

struct ExpectationOutcome {
    bool holds = false;
    bool invalid = false; // an SQL statement that SQLite refuses, that does not yield one number, or takes too long
    bool stopped = false; // it takes too long
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

// How the trace is asked.
struct AskOptions {
    std::string path; // no pipe: the trace is read again
    trace::OpenOptions open;
    std::chrono::milliseconds limit{}; // of each statement `sql`
};

// Diagnostics of this reading are those of the first one, and not repeated. status: damaged if an expectation does not
// hold; usage if one is invalid; timeout if a statement takes longer than the limit.
[[nodiscard]] OutcomesOfTrace outcomes_of(std::span<const Expectation> expectations, const AskOptions& options,
                                          const JudgedTrace& judged);

// As outcomes_of(): a program without the tables of `remora sql` has none.
using OutcomesOf = OutcomesOfTrace (*)(std::span<const Expectation>, const AskOptions&, const JudgedTrace&);

} // namespace host::cli
