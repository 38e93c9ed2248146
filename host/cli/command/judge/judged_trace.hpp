// SPDX-License-Identifier: MIT
// What the commands that judge a trace have in common: --junit, and an exit status that both the reading of the trace
// and the judgement determine.
#pragma once

#include "host/cli/command/judge/junit_report.hpp"
#include "host/cli/command/trace_input.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace host::cli {

inline void add_junit_option(Command& command, std::string& file) {
    command
        .option("--junit", file,
                "write the judgement as JUnit XML to this file, for continuous integration; -: instead "
                "of the text, to standard output")
        .check([](const std::string& text) { return text.empty() ? "must be a name, or - for standard output" : ""; });
}

// What a command does with a trace: it returns its verdict, and adds its cases to the report.
using Judge = std::function<trace::ExitStatus(formats::Trace&, JunitReport&)>;

// The report is written however the reading ends.
[[nodiscard]] inline trace::ExitStatus with_judged_trace(TraceInput input, Context context, std::string_view command,
                                                         JunitReport report, const Judge& judge) {
    if (input.json && report.on_standard_output()) {
        context.err.print("remora {}: --json and --junit - both write to standard output: name a file\n", command);
        return trace::ExitStatus::usage;
    }
    input.on_diagnostic = [&report](std::string_view line) { report.note_damage(line); };
    auto judged = trace::ExitStatus::clean;
    const trace::ExitStatus read =
        with_trace(input, context, command == "check" ? "checking" : "verifying", [&](formats::Trace& trace) {
            judged = judge(trace, report);
            return trace::ExitStatus::clean;
        });
    return worse(worse(read, judged), report.write(read, context));
}

} // namespace host::cli
