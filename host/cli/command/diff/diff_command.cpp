// SPDX-License-Identifier: MIT
// remora diff shows where two runs begin to differ, and how each task has changed. It compares two runs, or one run and
// the text of a schedule that `remora schedule` has printed. The exit status is 7 if they differ.
#include "host/cli/command/diff/diff_view.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/trace_input.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

using trace::ExitStatus;

struct DiffOptions {
    TraceInput input;
    std::string other;
    std::string golden; // a file; empty: none
    bool times = false;
    std::uint64_t resolution_us = kResolutionDefaultUs;
    std::uint64_t context_lines = 5;
};

ExitStatus refuse_diff(Context context, const std::string& text) {
    context.err.print("remora diff: {}\n", text);
    return ExitStatus::usage;
}

ExitStatus read_run(const TraceInput& input, Context context, analyse::Phrases& phrases, analyse::Run& run,
                    std::vector<analyse::Crash>& crashes) {
    return with_trace(input, context, "reading", [&](formats::Trace& trace) {
        RunInput reader(phrases, run, input.selection);
        analyse::CrashWatch ends;
        trace::Filters filters;
        trace.for_each([&](const trace::Event& event) {
            filters.take(event);
            ends.take(event);
            reader.add(event, trace.facts().clock.khz);
        });
        reader.finish(trace.facts().names);
        crashes = crashes_in(ends, trace);
        if (const std::string hidden = analyse::unrecorded(accounts_of(trace), filters.used()); !hidden.empty()) {
            context.err.print("remora diff: {}: {}: the runs may differ because of that\n", text::escaped(input.path),
                              hidden);
        }
        return status_of("diff", reader.selection(), trace, context);
    });
}

// Reads a line of `remora schedule`: milliseconds with three decimals, " ms  ", the decision.
std::optional<analyse::RunDecision> decision_of(std::string_view line, analyse::Phrases& phrases) {
    constexpr std::string_view kUnit = " ms  ";
    const std::size_t digits = line.find_first_not_of(' ');
    const std::size_t unit = line.find(kUnit);
    if (unit == std::string_view::npos || unit < digits + 5 || line[unit - 4] != '.') {
        return std::nullopt;
    }
    const std::string number =
        std::string(line.substr(digits, unit - 4 - digits)) + std::string(line.substr(unit - 3, 3));
    const auto time_us = text::number_of<std::int64_t>(number);
    if (!time_us) {
        return std::nullopt;
    }
    return analyse::RunDecision{*time_us * kNsPerUs, phrases.number_of(line.substr(unit + kUnit.size()))};
}

ExitStatus read_golden(const std::string& path, Context context, analyse::Phrases& phrases, analyse::Run& run) {
    const std::string name = text::escaped(path);
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.ends_with('\r')) { // another system's editor writes it
            line.pop_back();
        }
        const auto decision = decision_of(line, phrases);
        if (!decision) {
            return refuse_diff(context, fmt::format("{}:{}: no line of remora schedule: {}", name,
                                                    run.decisions.size() + 1, text::escaped(line)));
        }
        run.decisions.push_back(*decision);
    }
    return run.decisions.empty() ? refuse_diff(context, name + " is empty or cannot be read") : ExitStatus::clean;
}

ExitStatus diff(const DiffOptions& options, Context context) {
    context.out.page();
    const bool golden = !options.golden.empty();
    if (golden != options.other.empty()) {
        return refuse_diff(context, golden ? "TRACE is compared with OTHER or with --golden, not with both"
                                           : "OTHER is missing: name a second trace, or a text with --golden");
    }
    analyse::Phrases phrases;
    analyse::Both<analyse::Run> runs{};
    analyse::Both<std::vector<analyse::Crash>> crashes{};
    TraceInput second = options.input;
    second.path = golden ? options.input.path : options.other;
    const ExitStatus first_read = golden ? read_golden(options.golden, context, phrases, runs[0])
                                         : read_run(options.input, context, phrases, runs[0], crashes[0]);
    const auto is_usable = [](ExitStatus status) {
        return status == ExitStatus::clean || status == ExitStatus::damaged;
    };
    if (!is_usable(first_read)) {
        return first_read;
    }
    const ExitStatus second_read = read_run(second, context, phrases, runs[1], crashes[1]);
    if (!is_usable(second_read)) {
        return second_read;
    }
    DiffView view{.phrases = phrases,
                  .runs = {&runs[0], &runs[1]},
                  .titles = {text::escaped(golden ? options.golden : options.input.path), text::escaped(second.path)},
                  .tolerance = {.times = options.times || golden,
                                .resolution_ns = static_cast<std::int64_t>(options.resolution_us) * kNsPerUs},
                  .context_lines = options.context_lines};
    view.first = analyse::first_difference(runs[0].decisions, runs[1].decisions, view.tolerance);
    if (!golden) {
        view.tasks = analyse::task_changes(runs[0], runs[1], view.tolerance);
    }
    view.crashes = std::move(crashes);
    options.input.json ? print_diff_json(context.out, view) : print_diff_text(context.out, view);
    const bool badly = std::ranges::any_of(view.crashes, [](const auto& of) { return analyse::ended_badly(of); });
    return worse(worse(first_read, second_read), badly ? kEndedBadly : view.are_same() ? ExitStatus::clean : kDiffers);
}

} // namespace

void add_diff(CommandLine& line, Context context) {
    Command command = line.command("diff", "compare the schedules of two runs; exit status 7 if they differ");
    const auto options = std::make_shared<DiffOptions>();
    options->input.options.whole_first = true; // damaged data must not make jobs late
    add_trace_options(command, options->input, "--to-time,--to");
    command.option("OTHER", options->other, "the run with which TRACE is compared");
    command.option(
        "--golden", options->golden,
        "instead of OTHER: a text of `remora schedule`, with --resolution as it was printed; implies --times");
    command.flag(
        "--times", options->times,
        "the same decision at another time is a difference, too, by more than one step of --resolution, and so is any "
        "other response time");
    command.option("--resolution", options->resolution_us, "times are cut to so many microseconds")
        .range(std::uint64_t{1}, std::uint64_t{1'000'000})
        .show_default();
    command.option("--context", options->context_lines, "so many decisions before the difference and after it")
        .range(std::uint64_t{0}, std::uint64_t{1'000})
        .show_default();
    command.flag("--json", options->input.json, "as JSON");
    command.footer(
        examples({"remora diff before/udp after/udp", "remora diff before/udp after/udp --task control --times",
                  "remora diff out/udp --golden tests/golden/control.txt"}));
    command.run([options, context] { return diff(*options, context); });
}

} // namespace host::cli
