// SPDX-License-Identifier: MIT
// The figures of a trace on the screen (at most 100 columns) and as JSON.
#pragma once

#include "host/analyse/latencies.hpp"
#include "host/analyse/summary.hpp"
#include "host/analyse/task_metrics.hpp"
#include "host/analyse/tracing_share.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/event/selection.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/formats/trace.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace host::cli {

struct SummaryView {
    const std::string& title; // what the user named on the command line
    const formats::Trace& trace;
    const Selection& selection;           // what the figures are of
    const analyse::Summary& summary;      // of the span
    const analyse::TraceMetrics& metrics; // of the span, as the rest
    const analyse::Summary& shown;        // of the events asked for: only their numbers mean anything
    const analyse::Latencies& latencies;  // of the span
    const Accounts& accounts;
    const Verdict& verdict;
};

// What tracing took of the run; nothing of a part of it, or if the trace does not state the cost of a record.
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

// The legs of a latency, in their order, and what they are called in text and JSON.
struct LegName {
    analyse::Leg analyse::LatencyLegs::*leg;
    std::string_view text;
    std::string_view key;
};

inline constexpr std::array<LegName, 3> kLegs = {
    LegName{&analyse::LatencyLegs::to_entry, "raise to entry", "raise_to_entry"},
    LegName{&analyse::LatencyLegs::to_ready, "entry to ready", "entry_to_ready"},
    LegName{&analyse::LatencyLegs::to_first, "ready to first", "ready_to_first"}};

// Why no raise is known; empty if some are.
[[nodiscard]] inline std::string_view raises_missing(const analyse::Latencies& latencies) {
    if (!latencies.raises()) {
        return "no observer outside of the machine (--raises)";
    }
    switch (latencies.raises()->fit) {
    case schedule::Raises::Fit::none:
        return "the observer saw another run, or the clock does not count instructions";
    case schedule::Raises::Fit::several:
        return "the interrupts of the trace fit several parts of what the observer saw";
    case schedule::Raises::Fit::one:
        break;
    }
    return "";
}

// Response times under an emulated clock are the host's noise, and every output says so in these words.
inline constexpr std::string_view kEmulatedNote =
    "the clock is emulated: times show the host's clock, not the kernel's timing";

[[nodiscard]] inline bool shows_hosts_clock(const formats::Trace& trace) {
    return trace.facts().clock.mode == tracer::ClockMode::emulated;
}

} // namespace host::cli
