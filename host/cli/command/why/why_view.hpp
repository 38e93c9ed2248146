// SPDX-License-Identifier: MIT
// Prints why a job took as long as it did, on the screen (at most 20 lines) and as JSON.
#pragma once

#include "host/analyse/why/diagnosis.hpp"
#include "host/analyse/why/job_watch.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/formats/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
    bool any_task = false;       // no task was named
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

// Each returns the escaped name with what it names: "weather", "the mutex bus", "interrupt 32 (timer)", "server video".
[[nodiscard]] std::string task_of(const trace::Names& names, std::uint32_t context);
[[nodiscard]] std::string mutex_of(const trace::Names& names, std::uint32_t mutex);
[[nodiscard]] std::string interrupt_of(const trace::Names& names, std::uint32_t vector);
[[nodiscard]] std::string server_of(const trace::Names& names, std::uint32_t server);
[[nodiscard]] std::string executor_of(const trace::Names& names, const schedule::Executor& executor);

// Returns what a task did while it waited, by the parameter of task_block: "waited for the semaphore data", "slept",
// "was suspended". Escaped.
[[nodiscard]] std::string wait_of(const trace::Names& names, std::uint32_t wait);

// Returns what a culprit did in a passage: "comm ran". Escaped.
[[nodiscard]] std::string text_of(const trace::Names& names, const schedule::Culprit& culprit);

// Returns "the last that is known of job 3: waited for the mutex bus of weather, which ran, for 2.00 ms". Escaped.
[[nodiscard]] std::string state_at_end(const analyse::why::JobCase& job, std::uint32_t khz);

// Returns what is known of the job that was found. Everything must outlive the view.
[[nodiscard]] WhyView view_of(const std::string& path, const formats::Trace& trace, const analyse::why::Found& found);

// Returns the sentences about the cause of the job's lateness, and what would have been needed; none if it is not
// known. Escaped.
[[nodiscard]] std::vector<std::string> verdict_of(const WhyView& view);

void print_why(Output& out, const WhyView& view);
void print_why_json(Output& out, const WhyView& view);

} // namespace host::cli
