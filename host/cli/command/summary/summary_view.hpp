// SPDX-License-Identifier: MIT
// Prints the figures of a trace on the screen (at most 80 columns) and as JSON.
#pragma once

#include "host/analyse/crash.hpp"
#include "host/analyse/latencies.hpp"
#include "host/analyse/summary.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/event/selection.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/formats/trace.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::cli {

struct SummaryView {
    const std::string& title; // what the user named on the command line
    const formats::Trace& trace;
    const Selection& selection;           // the selected part of the trace
    const analyse::Summary& summary;      // of the span
    const analyse::TraceMetrics& metrics; // of the span, as all others
    const analyse::Summary& shown;        // of the selected events: only their numbers are valid
    const analyse::Latencies& latencies;  // of the span
    const Accounts& accounts;
    const Verdict& verdict;
    const std::vector<analyse::Crash>& crashes; // of the whole trace
};

// Returns the share of the run that tracing took; nothing for a part of the run, or if the trace does not state the
// cost of a record.
[[nodiscard]] inline std::optional<analyse::TracingShare> tracing_share(const SummaryView& view) {
    if (!view.selection.everything()) {
        return std::nullopt; // the records are counted for the whole trace
    }
    const trace::TraceFacts& facts = view.trace.facts();
    const auto removed = facts.compensation ? facts.compensation->removed_meanwhile : lib::Ticks{};
    return analyse::tracing_share(facts.cost, view.accounts.committed, view.summary.duration(), view.summary.cpus(),
                                  removed);
}

void print_summary(Output& out, const SummaryView& view);
void print_summary_json(Output& out, const SummaryView& view);

// Response times under an emulated clock are noise of the host, which every output states in these words.
inline constexpr std::string_view kEmulatedNote =
    "the clock is emulated: times show the host's clock, not the kernel's timing";

[[nodiscard]] inline bool shows_hosts_clock(const formats::Trace& trace) {
    return trace.facts().clock.mode == tracer::ClockMode::emulated;
}

} // namespace host::cli
