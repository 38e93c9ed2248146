// SPDX-License-Identifier: MIT
// remora why shows why a job took as long as it did, and what would have been needed for it to be on time.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/command/why/why_view.hpp"
#include "host/cli/event/event_lines.hpp"

#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

using analyse::why::Found;
using analyse::why::JobCase;
using analyse::why::Wanted;
using Which = analyse::why::Wanted::Which;

constexpr std::uint64_t kJobMax = std::uint64_t{1} << 62;
constexpr std::string_view kNothingLateText =
    "no job missed its deadline; --task NAME explains the longest one of a task\n";

struct WhyOptions {
    TraceInput input;
    bool worst = false;
    bool crash = false;
    bool first_miss = false;
    std::optional<std::uint64_t> job;
};

Wanted wanted_by(const WhyOptions& options) {
    return options.job          ? Wanted{.which = Which::number, .number = *options.job}
           : options.first_miss ? Wanted{.which = Which::first_miss}
                                : Wanted{};
}

// Nothing is concluded from records with a wrong checksum, and any job depends on those before it.
bool is_damaged(const formats::Trace& trace) {
    return std::ranges::any_of(trace.facts().chunks, &trace::ChunkReport::damaged);
}

ExplainedJob explain(const JobCase& job, double ticks_per_record) {
    return {job, job.account.is_known() ? std::optional(analyse::why::diagnose(job, ticks_per_record)) : std::nullopt};
}

// Returns the first of a sequence of late jobs, if what made it late also made the selected job late.
std::optional<ExplainedJob> explain_first(const Found& found, double ticks_per_record) {
    if (!found.first || !found.first->account.is_known() || !found.job->account.is_known()) {
        return std::nullopt;
    }
    ExplainedJob first = explain(*found.first, ticks_per_record);
    return analyse::why::explains(first.job, *first.diagnosis, *found.job) ? std::optional(std::move(first))
                                                                           : std::nullopt;
}

} // namespace

WhyView view_of(const std::string& path, const formats::Trace& trace, const Found& found) {
    const bool damaged = is_damaged(trace);
    const auto& cost = trace.facts().cost;
    const double ticks_per_record = cost && cost->rounds != 0 ? static_cast<double>(cost->enabled_ticks_x256) / 256 : 0;
    return {.path = path,
            .trace = trace,
            .found = found,
            .asked = damaged ? ExplainedJob{*found.job, std::nullopt} : explain(*found.job, ticks_per_record),
            .first = damaged ? std::nullopt : explain_first(found, ticks_per_record),
            .damaged = damaged,
            .ticks_per_record = ticks_per_record};
}

namespace {

// Returns why there is nothing to show.
std::string missing(const WhyOptions& options, const Found& found, std::uint32_t khz) {
    const std::string task = text::escaped(options.input.selection.task);
    if (found.jobs == 0) {
        return fmt::format("the trace has no job of task {}", task);
    }
    if (options.job) {
        return fmt::format("task {} has no job {}: the last one is job {}", task, *options.job, found.greatest_number);
    }
    const std::string open = found.open ? "; " + state_at_end(*found.open, khz) : "";
    return found.jobs == 1
               ? fmt::format("the only job of task {} does not end in the trace, or lacks records{}", task, open)
               : fmt::format("none of the {} jobs of task {} has both its release and its end in the trace{}",
                             found.jobs, task, open);
}

constexpr std::size_t kConsoleBytesMax = std::size_t{16} << 20;

void show_crashes(std::span<const analyse::Crash> crashes, bool as_json, Output& out) {
    if (!as_json) {
        print_crashes(out, crashes);
        return;
    }
    text::JsonDocument json(out.buffer());
    json.begin_object();
    json.member("version", kJsonVersion);
    json.array("crashes", crashes, [&json](const analyse::Crash& crash) { write_json(json, crash); });
    json.end_object();
    json.blank("\n");
}

// Explains the end of a run of which only the console is left. Returns nothing if the file has no panic of a console.
std::optional<trace::ExitStatus> why_of_console(const WhyOptions& options, Context context) {
    if (trace::ByteSource::is_stream(options.input.path)) {
        return std::nullopt; // what is read of it here would be missing in the trace
    }
    const auto console = trace::read_file(options.input.path, kConsoleBytesMax);
    if (!console || !analyse::crash_of_console(console.value(), nullptr)) {
        return std::nullopt;
    }
    std::optional<trace::KernelImage> symbols;
    if (!options.input.options.kernel.empty()) {
        auto image = trace::KernelImage::from_image(options.input.options.kernel);
        if (!image) {
            context.err.print("remora why: {}: {}\n", text::escaped(options.input.options.kernel), image.error().text);
            return trace::ExitStatus::usage;
        }
        symbols = std::move(image.value());
    }
    const auto crash = analyse::crash_of_console(console.value(), symbols ? &*symbols : nullptr);
    show_crashes(std::span(&*crash, 1), options.input.json, context.out);
    return trace::ExitStatus::clean;
}

trace::ExitStatus why_it_ended(const WhyOptions& options, Context context) {
    if (const auto status = why_of_console(options, context)) {
        return *status;
    }
    return with_trace(options.input, context, "explaining", [&](formats::Trace& trace) {
        analyse::CrashWatch ends;
        trace.for_each([&](const trace::Event& event) { ends.take(event); });
        const std::vector<analyse::Crash> crashes = crashes_in(ends, trace);
        show_crashes(crashes, options.input.json, context.out);
        if (crashes.empty() && !options.input.json) {
            context.out.print("no panic, hang, failure or killed task is in the trace\n");
        }
        return trace::ExitStatus::clean;
    });
}

// A miss may be among what is missing.
void print_nothing_late(const formats::Trace& trace, trace::Families filtered, bool as_json, Output& out) {
    const Accounts accounts = accounts_of(trace);
    std::string loss = loss_of(trace, accounts);
    if (loss.empty()) {
        loss = analyse::unrecorded(accounts, filtered);
    }
    if (!as_json) {
        out.print("{}", loss.empty()        ? std::string(kNothingLateText)
                        : is_damaged(trace) ? fmt::format("whether a job missed its deadline is not known: {}\n", loss)
                                            : fmt::format("no job that is whole missed its deadline, but {}\n", loss));
        return;
    }
    text::JsonDocument json(out.buffer());
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("job", nullptr);
    json.member("cause", nullptr);
    if (!loss.empty()) {
        json.member("unknown", loss);
    }
    json.end_object();
    json.blank("\n");
}

// Explains a job: without --task the first one of any task that missed its deadline, after how the run ended badly.
trace::ExitStatus why_job(const WhyOptions& options, Context context) {
    const bool any = options.input.selection.task.empty();
    if (any && (options.worst || options.job)) {
        context.err.print("remora why: {} needs --task\n", options.job ? "--job" : "--worst");
        return trace::ExitStatus::usage;
    }
    return with_trace(options.input, context, "explaining", [&](formats::Trace& trace) {
        Selection selection(options.input.selection);
        const Wanted wanted = any ? Wanted{.which = Which::first_miss} : wanted_by(options);
        analyse::why::JobWatch watch(wanted, [&](const trace::Names& names, std::uint32_t task) {
            return any || selection.is_task(names, task);
        });
        analyse::CrashWatch ends;
        trace::Filters filters;
        trace.for_each([&](const trace::Event& event) {
            filters.take(event);
            selection.take_note(event);
            ends.take(event);
            watch.take(event, trace.facts().clock.khz);
        });
        watch.finish();
        const trace::ExitStatus status = status_of("why", selection, trace, context);
        if (status != trace::ExitStatus::clean) {
            return status;
        }
        const Found& found = watch.found();
        if (any && !options.input.json) {
            print_crashes(context.out, crashes_in(ends, trace));
        }
        if (any && found.late == 0) {
            print_nothing_late(trace, filters.used(), options.input.json, context.out);
            return trace::ExitStatus::clean;
        }
        if (!found.job) {
            context.err.print("remora why: {}\n", missing(options, found, trace.facts().clock.khz));
            return trace::ExitStatus::usage;
        }
        WhyView view = view_of(options.input.path, trace, found);
        view.any_task = any;
        options.input.json ? print_why_json(context.out, view) : print_why(context.out, view);
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_why(CommandLine& line, Context context) {
    Command command = line.command("why", "explain one job of a task: what happened from its release to its end, the "
                                          "cause if it was late, and what would have been needed");
    const auto options = std::make_shared<WhyOptions>();
    options->input.options.whole_first = true; // damaged data must not make jobs late
    add_trace_options(command, options->input);
    Option task = command.option("--task", options->input.selection.task,
                                 "the task: its name or its context; default: the one that missed a deadline first, "
                                 "after how the run ended, if it ended badly");
    task.check([](const std::string& text) { return text.empty() ? "must be a name or a context" : ""; });
    command
        .flag("--crash", options->crash,
              "instead of a job: how the run ended badly (panic, hang, failure, killed task), where in the source, and "
              "what ran before; TRACE may be the log of the machine's console")
        .excludes(task);
    const Option worst = command.flag("--worst", options->worst, "the job with the greatest response time (default)");
    Option first_miss = command.flag("--first-miss", options->first_miss,
                                     "the first job that missed its deadline; if none did, as --worst");
    first_miss.excludes(worst);
    command.option("--job", options->job, "the job of this number, from 1")
        .range(1, kJobMax)
        .excludes(worst)
        .excludes(first_miss);
    command.flag("--json", options->input.json, "as JSON");
    command.footer(
        examples({"remora why out/udp", "remora why out/udp --crash", "remora why out/udp --task late",
                  "remora why out/udp --task late --first-miss", "remora why out/udp --task control --job 3 --json"}));
    command.run(
        [options, context] { return options->crash ? why_it_ended(*options, context) : why_job(*options, context); });
}

} // namespace host::cli
