// SPDX-License-Identifier: MIT
// remora report shows a run as one HTML page.
#include "host/cli/command/diff/diff_view.hpp"
#include "host/cli/command/report/report_reading.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"

#include <memory>

namespace host::cli {

namespace {

struct ReportOptions {
    TraceInput input;
    std::string other;  // a second trace; empty: none
    std::string phases; // two of them, as phase_pair_of() takes them; empty: none
    std::string output;
    std::string raises;
    std::uint64_t intervals_max = kReportIntervalsMax;
    bool live = false;
    std::uint64_t port = 0; // of the live page; 0: one that is free
};

// Returns how the trace was opened, as options that another command accepts.
std::vector<std::string> words_of(const trace::OpenOptions& options) {
    std::vector<std::string> words;
    const auto add = [&words](bool is_given, std::initializer_list<std::string> more) {
        if (is_given) {
            words.insert(words.end(), more);
        }
    };
    add(options.kind != trace::InputKind::detect, {"--from", std::string(formats::kind_name(options.kind))});
    add(options.strict, {"--strict"});
    add(options.salvage, {"--salvage"});
    add(options.tsc_khz != 0, {"--tsc-khz", fmt::format("{}", options.tsc_khz)});
    add(options.machine_clock, {"--machine-clock"});
    add(!options.kernel.empty(), {"--kernel", text::escaped(options.kernel)});
    return words;
}

Reading::Options reading_options(const ReportOptions& options, const TraceInput& input) {
    return {.window = {.from_ns = input.selection.from_ns, .to_ns = input.selection.to_ns},
            .intervals_max = options.intervals_max,
            .title = input.path,
            .words = words_of(input.options)};
}

void explain_full(const Reading& reading, const ReportOptions& options, Context context) {
    if (const auto end_ns = reading.full_at_ns()) {
        context.err.print(
            "remora report: {} intervals are more than a page of {} holds: it has those before {} ns, and "
            "an overview of the rest; for another part: --from {} --to TIME\n",
            reading.intervals(), options.intervals_max, *end_ns, *end_ns);
    }
}

// Returns which options do not fit each other; empty: all fit.
std::string contradiction_in(const ReportOptions& options) {
    const SelectionOptions& part = options.input.selection;
    if (!options.other.empty() && !options.phases.empty()) {
        return "--compare is for phases of one trace: leave it out, or OTHER";
    }
    if (!options.phases.empty() && (part.from_ns || part.to_ns)) {
        return "--compare is of whole phases: leave out --from and --to";
    }
    if (options.input.path == "-" && options.other == "-") {
        return "standard input is one trace: store it in a file, and name that twice";
    }
    if (!options.live) {
        return options.output.empty() ? "-o FILE is required"
               : options.port != 0    ? "--port is that of --live"
                                      : std::string();
    }
    return !options.other.empty() || !options.phases.empty() ? "a run that continues is not compared: leave out --live"
           : !options.raises.empty()                         ? "--raises is for a run that has ended: not with --live"
           : options.output == "-"                           ? "--live prints its address: -o needs a file"
                                                             : std::string();
}

trace::ExitStatus live_report(const ReportOptions& options, Context context) {
    return follow_live({.input = options.input,
                        .reading = reading_options(options, options.input),
                        .output = options.output,
                        .port = static_cast<std::uint16_t>(options.port)},
                       context);
}

// Holds the parts of the page.
struct Parts {
    std::vector<std::vector<std::byte>> traces{};
    std::vector<std::byte> comparison{};
};

// Collects what is compared while the traces are read.
struct Compared {
    analyse::Phrases phrases{};
    analyse::Both<analyse::Run> runs{};
    std::vector<analyse::RunPhase> phases{}; // of the only trace
};

trace::ExitStatus refuse_report(Context context, const std::string& text) {
    context.err.print("remora report: {}\n", text);
    return trace::ExitStatus::usage;
}

// Reads one trace and adds its contents to the parts, unless it has nothing usable.
trace::ExitStatus read_trace(const ReportOptions& options, const TraceInput& input,
                             std::optional<std::vector<schedule::Observed>> raises, Compared& compared, Parts& parts,
                             Context context) {
    return with_trace(input, context, "reading", [&](formats::Trace& trace) {
        Reading reading(reading_options(options, input), std::move(raises), trace);
        analyse::RunPhases phases;
        std::optional<RunInput> run;
        if (!options.other.empty() || !options.phases.empty()) {
            run.emplace(compared.phrases, compared.runs.at(parts.traces.size()), input.selection);
        }
        trace.for_each([&](const trace::Event& event) {
            reading.add(event);
            phases.add(event);
            if (run) {
                run->add(event, trace.facts().clock.khz);
            }
        });
        reading.finish();
        if (run) {
            run->finish(trace.facts().names);
        }
        if (!trace::ByteSource::is_stream(input.path)) {
            reading.explain_late(input);
        }
        if (trace.facts().usable_events == 0) {
            return trace::ExitStatus::clean; // the caller reports it; an existing file is not replaced by an empty page
        }
        parts.traces.push_back(report::contents(reading.tables()));
        compared.phases = phases.phases();
        explain_full(reading, options, context);
        return reading.whole() ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    });
}

// Finds the phases of a trace from which a page was made without --compare. Few traces have phases, so all decisions
// are kept only for these, in a second pass. The first pass has reported what is wrong with the trace.
void read_again(const TraceInput& input, Compared& compared) {
    trace::Diagnostics silent([](std::string_view) {});
    const auto trace = formats::Trace::open(input.path, input.options, silent);
    if (!trace) {
        compared.phases.clear();
        return;
    }
    RunInput run(compared.phrases, compared.runs[0], input.selection);
    trace.value()->for_each([&](const trace::Event& event) { run.add(event, trace.value()->facts().clock.khz); });
    run.finish(trace.value()->facts().names);
}

// Returns why the selected phases cannot be compared; empty if they can.
std::string contradiction_in(const std::optional<PhasePair>& pair, const Compared& compared, const std::string& path) {
    const std::string name = text::escaped(path);
    if (!pair) {
        return {};
    }
    if (compared.phases.empty()) {
        return name + " has no phases: user_event_0 does not number them from 1; two traces are compared with: "
                      "remora report TRACE OTHER -o FILE";
    }
    const std::uint32_t greatest = std::max((*pair)[0], (*pair)[1]);
    const bool is_there = std::min((*pair)[0], (*pair)[1]) > 0 && greatest <= compared.phases.size();
    return is_there ? std::string() : fmt::format("{} has the phases 1 to {}", name, compared.phases.size());
}

bool is_usable(trace::ExitStatus status) {
    return status == trace::ExitStatus::clean || status == trace::ExitStatus::damaged;
}

// Reads all traces and compares them. If `parts` has no traces afterwards, nothing can be written.
trace::ExitStatus read_all(const ReportOptions& options, std::optional<std::vector<schedule::Observed>> raises,
                           Parts& parts, Context context) {
    Compared compared;
    ReportOptions one = options;
    one.intervals_max = options.other.empty() ? options.intervals_max : (options.intervals_max + 1) / 2;
    trace::ExitStatus status = read_trace(one, options.input, std::move(raises), compared, parts, context);
    if (!options.other.empty() && is_usable(status) && !parts.traces.empty()) {
        TraceInput second = options.input;
        second.path = options.other;
        status = worse(status, read_trace(one, second, std::nullopt, compared, parts, context));
        if (parts.traces.size() == 2) {
            parts.comparison = compared_traces(compared.phrases, {&compared.runs[0], &compared.runs[1]},
                                               {text::escaped(options.input.path), text::escaped(options.other)});
        } else {
            parts.traces.clear();
        }
        return status;
    }
    const std::optional<PhasePair> pair = phase_pair_of(options.phases);
    if (parts.traces.empty()) {
        return status;
    }
    if (const std::string problem = contradiction_in(pair, compared, options.input.path); !problem.empty()) {
        parts.traces.clear();
        return refuse_report(context, problem);
    }
    const SelectionOptions& part = options.input.selection;
    if (!pair && !compared.phases.empty() && options.input.path != "-" && !part.from_ns && !part.to_ns) {
        read_again(options.input, compared);
    }
    if (!compared.runs[0].decisions.empty() && !compared.phases.empty()) {
        parts.comparison = compared_phases(compared.phrases, compared.runs[0], compared.phases, pair);
    }
    return status;
}

trace::ExitStatus report(const ReportOptions& options, Context context) {
    auto raises = observed(options.raises);
    if (!raises) {
        return refuse_report(context, fmt::format("{}: {}", text::escaped(options.raises), raises.error().text));
    }
    const auto failed = [&](const output::Failure& failure) {
        context.err.print("remora report: {}: {}\n", text::escaped(options.output), failure.text);
        return output::status_of(failure.cause);
    };
    std::vector<std::string> inputs = {options.input.path};
    if (!options.other.empty()) {
        inputs.push_back(options.other);
    }
    const auto destination = output::Destination::open(options.output, output::Destination::Shape::file, inputs);
    if (!destination) {
        return failed(destination.error());
    }
    Parts parts;
    const trace::ExitStatus status = read_all(options, std::move(raises.value()), parts, context);
    if (parts.traces.empty()) {
        return status;
    }
    destination.value()->file().append(report::page(parts.traces, parts.comparison));
    if (const auto committed = destination.value()->commit(); !committed) {
        return failed(committed.error());
    }
    return status;
}

} // namespace

void add_report(CommandLine& line, Context context) {
    Command command = line.command("report", "write a run as one HTML page: timeline, jobs, figures");
    const auto options = std::make_shared<ReportOptions>();
    options->input.options.whole_first = true; // damaged data must not cause reports of violations
    add_trace_options(command, options->input, "--to-time,--to", Selectable::span);
    command.option("OTHER", options->other, "a second trace: the page compares TRACE with it");
    command
        .option("--compare", options->phases,
                "two phases of TRACE, such as 1,2: the page compares them at first. Of a trace with phases it can "
                "compare any two")
        .check([](const std::string& text) {
            return phase_pair_of(text) ? "" : "must be the numbers of two different phases, like 1,2";
        });
    command.option("-o,--output", options->output,
                   "the page; -: standard output. Required, but for --live: then written when the command ends");
    add_raises_option(command, options->raises);
    command.flag(
        "--live", options->live,
        "TRACE is the memory of a machine that runs: serve a page that follows it, on 127.0.0.1, and print its "
        "address; until Ctrl-C");
    command.option("--port", options->port, "of --live: the port; default: one that is free")
        .range(std::uint64_t{1}, std::uint64_t{65535});
    command
        .option("--intervals-max", options->intervals_max,
                "of a longer trace the page has the first so many intervals, and an overview of the rest")
        .range(std::uint64_t{1}, std::uint64_t{1} << 32)
        .show_default();
    command.footer(
        examples({"remora report out/udp -o run.html", "remora report before/udp after/udp -o difference.html",
                  "remora report out/udp -o part.html --from 100ms --to 200ms", "remora report out/ram --live"}));
    command.run([options, context] {
        const std::string contradiction = contradiction_in(*options);
        if (!contradiction.empty()) {
            context.err.print("remora report: {}\n", contradiction);
            return trace::ExitStatus::usage;
        }
        return options->live ? live_report(*options, context) : report(*options, context);
    });
}

} // namespace host::cli
