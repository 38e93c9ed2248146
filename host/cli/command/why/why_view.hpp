// SPDX-License-Identifier: MIT
// Prints why a job took as long as it did, on the screen (at most 20 lines) and as JSON.
#pragma once

#include "host/analyse/why/diagnosis.hpp"
#include "host/analyse/why/job_watch.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/formats/trace.hpp"

#include <optional>
#include <string>

namespace host::cli {

struct ExplainedJob {
    const analyse::why::JobCase& job;
    std::optional<analyse::why::Diagnosis> diagnosis; // none: its parts are not known
};

struct WhyView {
    const std::string& path; // of the trace, as the user named it
    const formats::Trace& trace;
    const analyse::why::Found& found;
    ExplainedJob asked;
    std::optional<ExplainedJob>
        first;                   // first of the sequence of late jobs, if the selected one began late because of it
    bool damaged = false;        // the trace is damaged: nothing is concluded
    double ticks_per_record = 0; // 0: not known

    [[nodiscard]] const ExplainedJob& explained() const { return first ? *first : asked; }
};

// Holds the escaped texts of one finding.
struct FindingText {
    std::string what;    // a sentence without its full stop
    std::string without; // continues "without ..."
};

[[nodiscard]] FindingText text_of(const WhyView& view, const ExplainedJob& explained,
                                  const analyse::why::Finding& finding);

// Returns what a culprit did in a passage: "comm ran". Escaped.
[[nodiscard]] std::string text_of(const trace::Names& names, const schedule::Culprit& culprit);

void print_why(Output& out, const WhyView& view);
void print_why_json(Output& out, const WhyView& view);

} // namespace host::cli
