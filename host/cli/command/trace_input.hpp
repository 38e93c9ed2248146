// SPDX-License-Identifier: MIT
// What the commands that read a trace have in common: the TRACE argument, --tsc-khz, and where diagnostics go.
#pragma once

#include "host/cli/command/commands.hpp"
#include "host/formats/input_kind.hpp"
#include "host/formats/trace.hpp"

#include <algorithm>
#include <functional>
#include <string>

namespace host::cli {

struct TraceInput {
    std::string path;
    trace::OpenOptions options;
    bool json = false; // the output
};

inline void add_trace_options(Command& command, TraceInput& input) {
    command.option("TRACE", input.path, "session directory, trace file of any known format, or - for standard input")
        .required();
    command
        .option(
            "--from", [&input](const std::string& name) { input.options.kind = *formats::find_kind(name); },
            "format of TRACE; default: detect it from the first bytes")
        .one_of(formats::kind_names());
    command.flag("--strict", input.options.strict, "stop at the first damage");
    command.flag("--salvage", input.options.salvage, "decode what a checksum or a count says is damaged");
    command
        .option("--tsc-khz", input.options.tsc_khz,
                "rate of the time stamp counter in kHz, instead of what the trace says")
        .range(trace::kTscKhzMin, trace::kTscKhzMax);
    command.flag("--machine-clock", input.options.machine_clock,
                 "times of the machine's counter, also where the kernel set its clock back (clock compensation)");
    command.option("--kernel", input.options.kernel,
                   "image of the kernel that ran, for the texts of trace_printf and the names of functions; a session "
                   "has its own copy");
}

// Diagnostics that go to the error output as they arise, after whatever the output holds.
inline trace::Diagnostics::Sink diagnostics_to(Context context) {
    return [context](std::string_view line) { context.err.print("{}\n", line); };
}

// Opens the trace, hands it to `use`, and derives the exit status: what `use` returns, if that is worse.
inline trace::ExitStatus with_trace(const TraceInput& input, Context context,
                                    const std::function<trace::ExitStatus(formats::Trace&)>& use) {
    trace::Diagnostics diagnostics(diagnostics_to(context));
    const auto opened = formats::Trace::open(input.path, input.options, diagnostics);
    if (!opened) {
        return diagnostics.exit_status(false);
    }
    const trace::ExitStatus used = use(*opened.value());
    diagnostics.finish();
    // A command that stopped early has shown what was asked for.
    const bool usable = !opened.value()->exhausted() || opened.value()->facts().usable_events != 0;
    if (!usable) {
        diagnostics.report("E-NOTHING", {.file = input.path}, "no record of a known event");
    }
    return std::max(used, diagnostics.exit_status(usable));
}

} // namespace host::cli
