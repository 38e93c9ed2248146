// SPDX-License-Identifier: MIT
// remora why shows why a job took as long as it did, and what would have been needed for it to be on time.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/command/why/why_view.hpp"

#include "host/text/escape.hpp"

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

struct WhyOptions {
    TraceInput input;
    bool worst = false;
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

// Returns why there is nothing to show.
std::string missing(const WhyOptions& options, const Found& found) {
    const std::string task = text::escaped(options.input.selection.task);
    if (found.jobs == 0) {
        return fmt::format("the trace has no job of task {}", task);
    }
    return options.job
               ? fmt::format("task {} has no job {}: the last one is job {}", task, *options.job, found.greatest_number)
               : fmt::format("of none of the {} jobs of task {} both release and end are in the trace", found.jobs,
                             task);
}

trace::ExitStatus why(const WhyOptions& options, Context context) {
    return with_trace(options.input, context, "explaining", [&](formats::Trace& trace) {
        Selection selection(options.input.selection);
        analyse::why::JobWatch watch(wanted_by(options), [&](const trace::Names& names, std::uint32_t task) {
            return selection.is_task(names, task);
        });
        trace.for_each([&](const trace::Event& event) {
            selection.take_note(event);
            watch.take(event, trace.facts().clock.khz);
        });
        watch.finish();
        const trace::ExitStatus status = status_of("why", selection, trace, context);
        if (status != trace::ExitStatus::clean) {
            return status;
        }
        const Found& found = watch.found();
        if (!found.job) {
            context.err.print("remora why: {}\n", missing(options, found));
            return trace::ExitStatus::usage;
        }
        const bool damaged = is_damaged(trace);
        const auto& cost = trace.facts().cost;
        const double ticks_per_record =
            cost && cost->rounds != 0 ? static_cast<double>(cost->enabled_ticks_x256) / 256 : 0;
        const WhyView view{.path = options.input.path,
                           .trace = trace,
                           .found = found,
                           .asked =
                               damaged ? ExplainedJob{*found.job, std::nullopt} : explain(*found.job, ticks_per_record),
                           .first = damaged ? std::nullopt : explain_first(found, ticks_per_record),
                           .damaged = damaged,
                           .ticks_per_record = ticks_per_record};
        options.input.json ? print_why_json(context.out, view) : print_why(context.out, view);
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_why(CommandLine& line, Context context) {
    Command command = line.command("why", "explain one job of a task: what happened from its release to its end, the "
                                          "cause if it was late, and what would have been needed");
    const auto options = std::make_shared<WhyOptions>();
    add_trace_options(command, options->input);
    command.option("--task", options->input.selection.task, "the task: its name or its context")
        .required()
        .check([](const std::string& text) { return text.empty() ? "must be a name or a context" : ""; });
    const Option worst = command.flag("--worst", options->worst, "the job with the greatest response time (default)");
    Option first_miss = command.flag("--first-miss", options->first_miss,
                                     "the first job that missed its deadline; if none did, as --worst");
    first_miss.excludes(worst);
    command.option("--job", options->job, "the job of this number, from 1")
        .range(1, kJobMax)
        .excludes(worst)
        .excludes(first_miss);
    command.flag("--json", options->input.json, "as JSON");
    command.footer(examples({"remora why out/udp --task late", "remora why out/udp --task late --first-miss",
                             "remora why out/udp --task control --job 3 --json"}));
    command.run([options, context] { return why(*options, context); });
}

} // namespace host::cli
