// SPDX-License-Identifier: MIT
// The figures of a trace on the screen (at most 100 columns) and as JSON.
#pragma once

#include "host/analyse/summary.hpp"
#include "host/cli/output.hpp"
#include "host/cli/verdict.hpp"
#include "host/trace/trace.hpp"

#include <string>

namespace host::cli {

struct SummaryView {
    const std::string& title; // what the user named on the command line
    const trace::Trace& trace;
    const analyse::Summary& summary;
    const Accounts& accounts;
    const Verdict& verdict;
};

void print_summary(Output& out, const SummaryView& view);
void print_summary_json(Output& out, const SummaryView& view);

// Response times under an emulated clock are the host's noise, and every output says so in these words.
inline constexpr std::string_view kEmulatedNote =
    "the clock is emulated: times show the host's clock, not the kernel's timing";

[[nodiscard]] inline bool shows_hosts_clock(const trace::Trace& trace) {
    return trace.facts().clock.mode == tracer::ClockMode::emulated;
}

} // namespace host::cli
