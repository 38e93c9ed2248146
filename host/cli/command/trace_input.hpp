// SPDX-License-Identifier: MIT
// Has what the commands that read a trace share: the TRACE argument, the part of the trace, and the destination of
// diagnostics.
#pragma once

#include "host/cli/command/command_line.hpp"
#include "host/cli/command/commands.hpp"
#include "host/cli/command/exit_table.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/event/selection.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/cli/terminal/stop_signal.hpp"
#include "host/formats/input_kind.hpp"
#include "host/formats/trace.hpp"
#include "host/schedule/latency.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace host::cli {

inline constexpr unsigned kJobsMax = 256;

struct TraceInput {
    std::string path;
    trace::OpenOptions options;
    bool json = false; // the output is JSON
    unsigned jobs = 1; // threads; 0: one for each processor
    SelectionOptions selection;
    std::function<void(std::string_view)> on_diagnostic{}; // also receives each line
    bool judges = false;                                   // the command's own output states which records are missing
};

inline bool is_time(const std::string& text) {
    return time_of(text).has_value();
}

inline std::string check_time(const std::string& text) {
    return is_time(text) ? "" : "must be a time since the start of the trace, like 1500 (ns), 20us, 1.5ms or 2s";
}

inline void add_span_options(Command& command, SelectionOptions& selection, const std::string& names_of_end) {
    command
        .option(
            "--from-time", [&selection](const std::string& text) { selection.from_ns = time_of(text); },
            "only from this time on, since the start of the trace: 1500 (ns), 20us, 1.5ms, 2s")
        .check(check_time);
    command
        .option(
            names_of_end, [&selection](const std::string& text) { selection.to_ns = time_of(text); },
            "only before this time")
        .check(check_time);
}

// Names what the user can select of the trace.
enum class Selectable : std::uint8_t {
    events, // a task, an event, a span of time
    span,   // only a span of time
};

// names_of_end: "--to-time,--to" for a command that shows a part of the trace (--task, --event and the span of time),
// "--to-time" if its --to is something else; empty for a command that reads all of it.
inline void add_trace_options(Command& command, TraceInput& input, const std::string& names_of_end = {},
                              Selectable by = Selectable::events) {
    const bool selects = !names_of_end.empty();
    command
        .option("TRACE", input.path,
                "session directory, trace file of any known format, or - for standard input; if it is left out: what "
                "the last `make run` left in out")
        .required();
    command
        .option(
            "--from",
            [&input](const std::string& text) {
                if (const auto kind = formats::find_kind(text)) {
                    input.options.kind = *kind;
                } else {
                    input.selection.from_ns = time_of(text);
                }
            },
            std::string("format of TRACE; default: detect it from the first bytes") +
                (selects ? ". A time is that of --from-time" : ""))
        .one_of(
            formats::kind_names(), [selects](const std::string& text) { return selects && is_time(text); },
            selects ? ", nor a time like 1500 (ns), 20us, 1.5ms or 2s" : "");
    if (selects && by == Selectable::events) {
        command.option("--task", input.selection.task, "only what concerns this task: its name or its context");
        command.option("--event", input.selection.event,
                       "only this event: one of the table, or one that the trace declares (see: remora events)");
    }
    if (selects) {
        add_span_options(command, input.selection, names_of_end);
    }
    command.flag("--strict", input.options.strict, "stop at the first damage");
    command.flag("--salvage", input.options.salvage,
                 "decode what a checksum says is damaged, and chunks with an unreadable header");
    command
        .option("--tsc-khz", input.options.tsc_khz,
                "rate of the time stamp counter in kHz, instead of what the trace says")
        .range(trace::kTscKhzMin, trace::kTscKhzMax);
    command.flag("--machine-clock", input.options.machine_clock,
                 "times of the machine's counter, also where the kernel set its clock back (clock compensation)");
    command.option(
        "--kernel", input.options.kernel,
        "image of the kernel that ran, for the texts of trace_printf and the names of functions; default: the "
        "session's copy, else one with the trace's build id beside it, in REMORA_KERNELS or in build/kernel");
}

inline void add_jobs_option(Command& command, TraceInput& input) {
    input.jobs = 0;
    command
        .option("-j,--jobs", input.jobs,
                "threads that work on a file or session, whose output they do not change; default: one for each "
                "processor. A pipe and a machine that runs are read by one")
        .range(1U, kJobsMax);
}

// One thread reads the trace and writes; the others do what can be done in parallel.
[[nodiscard]] inline unsigned threads_for(const TraceInput& input) {
    if (input.options.follow.wanted || trace::ByteSource::is_stream(input.path)) {
        return 1;
    }
    return input.jobs != 0 ? input.jobs : std::clamp(std::thread::hardware_concurrency(), 1U, kJobsMax);
}

inline void add_idle_timeout(Command& command, TraceInput& input) {
    command
        .option(
            "--idle-timeout",
            [&input](const std::string& text) {
                double seconds = 0;
                std::from_chars(text.data(), text.data() + text.size(), seconds);
                input.options.follow.idle = duration(seconds).value_or(std::chrono::milliseconds(0));
            },
            "of a machine that runs: end after so many seconds without a new record")
        .check(check_seconds);
}

// Adds the options of a command that can show a machine while it runs.
inline void add_follow_options(Command& command, TraceInput& input) {
    command.flag("--follow", input.options.follow.wanted,
                 "of the memory of a machine that runs: continue until its run ends, or Ctrl-C");
    add_idle_timeout(command, input);
}

// Returns diagnostics that are written to the error output as they arise, after everything in the output's buffer.
inline trace::Diagnostics::Sink diagnostics_to(Context context) {
    return [context](std::string_view line) {
        context.err.print("{}\n", line);
        context.err.flush();
    };
}

// States on the error output which records are known to be missing, if any are. Must be called once the trace has been
// read, and no diagnostics have said so.
inline void print_loss(const formats::Trace& trace, Context context) {
    if (const std::string loss = loss_of(trace, accounts_of(trace)); !loss.empty()) {
        context.err.print("remora: the trace is {}: what these records would show is left out\n", loss);
    }
}

// Opens the trace, passes it to `use`, and derives the exit status: that of `use`, if it is worse. doing: such as
// "verifying", for the progress of a command that shows nothing before the end; else empty.
inline trace::ExitStatus with_trace(const TraceInput& input, Context context, std::string_view doing,
                                    const std::function<trace::ExitStatus(formats::Trace&)>& use) {
    if (const std::string contradiction = contradiction_in(input.selection, "--to must be later than --from");
        !contradiction.empty()) {
        context.err.print("remora: {}\n", contradiction);
        return trace::ExitStatus::usage;
    }
    ProgressLine progress(context.err, doing);
    trace::Diagnostics diagnostics([&, say = diagnostics_to(context)](std::string_view line) {
        progress.clear();
        say(line);
        if (input.on_diagnostic) {
            input.on_diagnostic(line);
        }
    });
    trace::OpenOptions options = input.options;
    if (options.follow.wanted) {
        catch_stop_signals();
        options.follow.stop = &stop_requested();
    }
    const auto opened = formats::Trace::open(input.path, options, diagnostics);
    if (!opened) {
        return diagnostics.exit_status(false);
    }
    if (!doing.empty()) {
        opened.value()->report_to([&, trace = opened.value().get()](std::uint64_t events) {
            trace->exhausted() ? progress.clear() : progress.show(events, 0);
        });
    }
    const trace::ExitStatus used = use(*opened.value());
    diagnostics.finish();
    // A command that stopped early has shown everything that was asked for.
    const bool usable = !opened.value()->exhausted() || opened.value()->facts().usable_events != 0;
    if (!usable) {
        diagnostics.report("E-NOTHING", {.file = input.path}, opened.value()->nothing_text());
    }
    const trace::ExitStatus read = diagnostics.exit_status(usable);
    if (!input.judges && opened.value()->exhausted() && read == trace::ExitStatus::clean) {
        print_loss(*opened.value(), context);
    }
    return worse(used, read);
}

// Reports, after the events, that the selected task or event does not exist, which is an error of the caller.
inline trace::ExitStatus status_of(std::string_view command, const Selection& selection, const formats::Trace& trace,
                                   Context context) {
    const std::string missing = trace.exhausted() ? selection.missing(trace.facts().names) : std::string();
    if (missing.empty()) {
        return trace::ExitStatus::clean;
    }
    context.err.print("remora {}: {}\n", command, missing);
    return trace::ExitStatus::usage;
}

// Adds the option --raises of the commands that show latencies.
inline void add_raises_option(Command& command, std::string& path) {
    command.option("--raises", path,
                   "what an observer outside of the machine saw of its interrupts: when devices raised them");
}

inline constexpr std::size_t kRaisesBytesMax = std::size_t{1} << 30;

// Reads the file of --raises. Returns nothing if it was not given, or what is wrong with the file.
inline lib::Result<std::optional<std::vector<schedule::Observed>>, trace::Refusal> observed(const std::string& path) {
    if (path.empty()) {
        return std::optional<std::vector<schedule::Observed>>();
    }
    const auto text = trace::read_file(path, kRaisesBytesMax);
    if (!text) {
        return trace::Refusal{text.error().text};
    }
    auto rows = schedule::parse_raises(text.value());
    if (!rows) {
        return rows.error();
    }
    return std::optional(std::move(rows.value()));
}

} // namespace host::cli
