// SPDX-License-Identifier: MIT
// Prints the first screen that a user sees of a run.
#include "host/cli/command/summary/summary_view.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/text/format.hpp"
#include "host/text/wrap.hpp"

#include "host/text/escape.hpp"
#include "host/trace/names.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace host::cli {

namespace {

using text::kColumns;
using text::shortened;

// A record takes tens of ticks. More than this is what the host did while the machine measured it.
constexpr double kTicksPerRecordMax = 1000;

std::string percent(lib::Ticks part, lib::Ticks whole) {
    if (whole.value == 0) {
        return "-";
    }
    return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part.value) / static_cast<double>(whole.value));
}

std::string dash_if_zero(std::uint64_t count) {
    return count != 0 ? grouped(count) : "-";
}

// Prints a line of the head; what does not fit continues below its text.
template <typename... Arguments>
void print_line(Output& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    out.print("{}\n", text::wrapped(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

void print_heading(Output& out, std::string_view heading) {
    out.print("\n{}\n", out.styled(Style::strong, heading));
}

void print_tracing(Output& out, const SummaryView& view) {
    if (!view.selection.everything()) {
        print_line(out, "  part       {} (records and transfer: the whole trace)",
                   text::escaped(view.selection.text()));
        return;
    }
    const auto& facts = view.trace.facts();
    const auto tracing = tracing_share(view);
    if (!tracing) {
        out.print("  tracing    share not known: the trace does not state what a record costs\n");
        return;
    }
    const std::string share = tracing->share ? fmt::format("{:.3f} %", 100 * *tracing->share) : "-";
    const bool credible = tracing->ticks_per_record <= kTicksPerRecordMax;
    const std::string_view mode = formats::dat::clock_mode_name(facts.clock.mode);
    print_line(out, "  tracing    about {} of the run: {} records x {:.2f} ticks = {}{} (estimate; clock: {}{})", share,
               grouped(tracing->records), tracing->ticks_per_record, Times(facts.clock.khz).text(tracing->time),
               facts.clock.khz == 0 ? " ticks" : "", mode,
               credible ? "" : "; not credible: the host took most of this while the machine measured it");
}

// Prints the layout of the run's compact chunks, and why it was chosen.
void print_compact(Output& out, const SummaryView& view) {
    const auto& cost = view.trace.facts().cost;
    if (!cost || cost->choice == tracer::LayoutChoice::plain) {
        return;
    }
    const std::string reason = cost->choice == tracer::LayoutChoice::measured
                                   ? fmt::format("by AUTO: a plain record {:.2f} ticks, setting the timer {}",
                                                 static_cast<double>(cost->plain_ticks_x256) / 256, cost->timer_ticks)
                                   : "as asked";
    print_line(out, "  compact    layout {} {}", formats::dat::layout_name(cost->layout), reason);
}

// Prints by how much the clock was set back in all, and how many steps had which outcome.
void print_compensation(Output& out, const SummaryView& view) {
    const auto& compensation = view.trace.facts().compensation;
    if (!compensation) {
        return;
    }
    const Times times(view.trace.facts().clock.khz);
    std::string steps;
    for (std::size_t i = 0; i < compensation->steps.size(); ++i) {
        if (compensation->steps[i] != 0) {
            steps += fmt::format("; {} {}", lib::kWords<lib::StepOutcome>[i], grouped(compensation->steps[i]));
        }
    }
    print_line(out, "  clock      set back by {}{} in all{}", times.text(compensation->removed),
               view.trace.facts().clock.khz == 0 ? " ticks" : "", steps);
}

void print_head(Output& out, const SummaryView& view) {
    const auto& facts = view.trace.facts();
    const auto& manifest = view.trace.manifest();
    const auto& build = facts.build ? facts.build : manifest ? manifest->build : facts.build;
    std::string what = text::escaped(view.title);
    if (build) {
        what = fmt::format("{}   seed {}", text::escaped(build->application.view()), build->seed);
    }
    out.print("{}\n{:-<{}}\n", out.styled(Style::strong, shortened(what, kColumns)), "", kColumns);
    if (build) {
        out.print("  built      {}\n", shortened(fmt::format("{}, {}", text::escaped(build->kernel.view()),
                                                             text::escaped(build->compiler.view())),
                                                 kColumns - 13));
    }
    const auto& end = manifest && manifest->announced ? manifest->announced : facts.export_end;
    if (end) {
        const bool is_known = end->result != tracer::RunResult::unknown;
        out.print("  ended      {}\n", out.styled(!is_known                                     ? Style::warning
                                                  : end->result == tracer::RunResult::completed ? Style::good
                                                                                                : Style::bad,
                                                  is_known ? formats::dat::run_result_name(end->result)
                                                           : "not known: the machine exported before its run ended"));
    }
    const Times times(facts.clock.khz);
    out.print("  ran        {}{}, {} cpu{}\n", times.text(view.summary.duration()),
              facts.clock.khz == 0 ? " ticks" : "", view.summary.cpus(), view.summary.cpus() == 1 ? "" : "s");
    if (facts.clock.khz == 0) {
        out.print("  clock      {}\n", out.styled(Style::warning, "rate not known: times are ticks (see --tsc-khz)"));
    } else if (facts.clock.overridden) {
        out.print("  clock      {} kHz, as the command line says\n", grouped(facts.clock.khz));
    } else {
        out.print("  clock      {}, {} kHz from {}, sources within {} ppm\n",
                  formats::dat::clock_mode_name(facts.clock.mode), grouped(facts.clock.khz),
                  formats::dat::tsc_source_name(facts.clock.source), facts.clock.error_ppm);
    }
    print_compensation(out, view);
    print_line(out, "  records    {} in {} chunk{}; dropped {}, refused {}, overwritten {}, missing {}",
               grouped(view.accounts.committed), facts.chunks.size(), facts.chunks.size() == 1 ? "" : "s",
               grouped(view.accounts.dropped), grouped(view.accounts.refused), grouped(view.accounts.overwritten),
               grouped(view.accounts.missing));
    if (const std::string filters = trace::filters_text(view.summary.filtered()); !filters.empty()) {
        out.print("  unknown    {}\n", out.styled(Style::warning, filters));
    }
    print_tracing(out, view);
    print_compact(out, view);
    if (end) {
        const std::uint64_t lost = end->records > view.accounts.received ? end->records - view.accounts.received : 0;
        out.print("  transfer   sent {} records, received {}, lost {}\n", grouped(end->records),
                  grouped(view.accounts.received), grouped(lost));
    }
    if (manifest && manifest->transfer) {
        const formats::dat::ManifestTransfer& transfer = *manifest->transfer;
        print_line(out, "  packets    {}; lost {}, duplicate {}, reordered {}, malformed {}", grouped(transfer.packets),
                   grouped(transfer.lost), grouped(transfer.duplicate), grouped(transfer.reordered),
                   grouped(transfer.malformed));
    }
    const bool badly = analyse::ended_badly(view.crashes);
    out.print("  verdict    {}\n", out.styled(badly ? Style::bad : style_of(view.verdict),
                                              view.verdict.text + (badly ? "; but the run ended badly" : "")));
}

std::string task_title(const SummaryView& view, std::uint16_t context) {
    const trace::TaskNames* const task = view.trace.facts().names.task(context);
    return task != nullptr && !task->name.empty() ? text::escaped(task->name) : fmt::format("context {}", context);
}

std::string task_level(const SummaryView& view, std::uint16_t context) {
    const trace::Names& names = view.trace.facts().names;
    const trace::TaskNames* const task = names.task(context);
    if (task == nullptr || !task->parameters) {
        return "";
    }
    const std::string_view level = names.find(tracer::Unit::level, task->parameters->level);
    return level.empty() ? fmt::format("{}", task->parameters->level) : text::escaped(level);
}

void print_tasks(Output& out, const SummaryView& view) {
    if (view.summary.tasks().empty()) {
        return;
    }
    const Times times(view.trace.facts().clock.khz);
    print_heading(out, fmt::format("{:<14} {:<10} {:>8} {:>6} {:>9} {:>6} {:>6} {:>4} {:>8}", "tasks", "level",
                                   "releases", "runs", "cpu time", "cpu", "missed", "over", "inherits"));
    if (shows_hosts_clock(view.trace)) {
        out.print("  {}\n", out.styled(Style::warning, kEmulatedNote));
    }
    bool exceeds = false;
    const auto missed_of = [&](std::uint16_t context) {
        const auto found = view.metrics.tasks().find(context);
        return found != view.metrics.tasks().end() ? found->second.missed : 0;
    };
    for (const auto& [context, task] : view.summary.tasks()) {
        if (!view.selection.is_task(view.trace.facts().names, context)) {
            continue;
        }
        out.print("  {:<12} {:<10} {:>8} {:>6} {:>9} {:>6} ", shortened(task_title(view, context), 12),
                  shortened(task_level(view, context), 10),
                  dash_if_zero(task.releases != 0 ? task.releases : task.activations), dash_if_zero(task.dispatches),
                  times.text(task.cpu_time), percent(task.cpu_time, view.summary.duration()));
        const std::uint64_t missed = missed_of(context);
        exceeds = exceeds || task.cpu_time.value > view.summary.duration().value;
        out.print("{} {:>4} {:>8}\n",
                  out.styled(missed != 0 ? Style::bad : Style::plain, fmt::format("{:>6}", dash_if_zero(missed))),
                  dash_if_zero(task.wcet_violations), dash_if_zero(task.inheritances));
    }
    if (exceeds) {
        print_line(out, "  cpu above 100 %: by the records the task ran on several processors at once");
    }
}

struct TaskWithJobs {
    std::uint16_t context;
    const analyse::TaskMetrics& metrics;
};

// Returns the tasks that have complete jobs.
std::vector<TaskWithJobs> tasks_with_jobs(const SummaryView& view) {
    std::vector<TaskWithJobs> tasks;
    for (const auto& [context, metrics] : view.metrics.tasks()) {
        if (metrics.response.count() != 0 && view.selection.is_task(view.trace.facts().names, context)) {
            tasks.push_back({context, metrics});
        }
    }
    return tasks;
}

void print_responses(Output& out, const SummaryView& view) {
    const std::vector<TaskWithJobs> tasks = tasks_with_jobs(view);
    if (tasks.empty()) {
        return;
    }
    const Times times(view.trace.facts().clock.khz);
    print_heading(out, fmt::format("{:<14} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}", "response times", "jobs",
                                   "least", "mean", "99 %", "greatest", "jitter", "deadline"));
    for (const auto& [context, task] : tasks) {
        const trace::TaskNames* const names = view.trace.facts().names.task(context);
        const bool has_deadline = names != nullptr && names->parameters && names->parameters->deadline_ns != 0;
        const std::string deadline =
            has_deadline ? fmt::format("{:.2f} ms", static_cast<double>(names->parameters->deadline_ns) / 1e6) : "-";
        out.print("  {:<12} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", shortened(task_title(view, context), 12),
                  grouped(task.response.count()), times.text(task.response.least()), times.text(task.response.mean()),
                  times.text(task.percentile(99)), times.text(task.response.greatest()),
                  times.text(task.absolute_finishing_jitter()), deadline);
    }
    print_heading(out, fmt::format("{:<14} {:>9} {:>9} {:>12} {:>9} {:>10} {:>9}", "their parts", "jitter", "execution",
                                   "interference", "blocking", "suspension", "tracing"));
    for (const auto& [context, task] : tasks) {
        const auto tracing = analyse::tracing_time(view.trace.facts().cost, task.records.mean().value);
        const auto mean = [&times, &parts = task.parts](std::size_t part) { return times.text(parts[part].mean()); };
        out.print("  {:<12} {:>9} {:>9} {:>12} {:>9} {:>10} {:>9}\n", shortened(task_title(view, context), 12), mean(0),
                  mean(1), mean(2), mean(3), mean(4), tracing ? times.text(*tracing) : "-");
    }
}

// Prints all parts of a processor's time.
void print_processors(Output& out, const SummaryView& view) {
    const auto uses = view.summary.uses();
    if (uses.empty()) {
        return;
    }
    print_heading(out, fmt::format("{:<17} {:>8} {:>11} {:>11} {:>11} {:>11}", "processors", "", "tasks", "idle",
                                   "interrupts", "unknown"));
    for (const auto& [cpu, of] : uses) {
        lib::Ticks idle;
        lib::Ticks tasks;
        for (const auto& [context, ticks] : of.tasks) {
            lib::Ticks& sum = view.trace.facts().names.find(tracer::Unit::context, context) == "idle" ? idle : tasks;
            sum = sum + ticks;
        }
        out.print("  {:<15} {:>8} {:>11} {:>11} {:>11} {:>11}\n", fmt::format("cpu{}", cpu), "",
                  percent(tasks, of.sum()), percent(idle, of.sum()), percent(of.interrupts, of.sum()),
                  percent(of.unknown, of.sum()));
    }
}

std::string vector_title(const SummaryView& view, std::uint16_t vector) {
    const std::string_view name = view.trace.facts().names.find(tracer::Unit::vector, vector);
    return name.empty() ? fmt::format("vector {}", vector) : fmt::format("{} {}", vector, text::escaped(name));
}

void print_interrupts(Output& out, const SummaryView& view) {
    if (view.summary.vectors().empty() && view.summary.timer().count == 0) {
        return;
    }
    const Times times(view.trace.facts().clock.khz);
    print_heading(out,
                  fmt::format("{:<17} {:>8} {:>12} {:>11} {:>11}", "interrupts", "count", "total", "mean", "greatest"));
    const auto line = [&](std::string_view name, const analyse::VectorFigures& figures) {
        const auto time = [&](lib::Ticks ticks) { return figures.timed() ? times.text(ticks) : "-"; };
        out.print("  {:<15} {:>8} {:>12} {:>11} {:>11}\n", shortened(std::string(name), 15), grouped(figures.count),
                  time(figures.handler.sum()), time(figures.handler.mean()), time(figures.handler.greatest()));
    };
    for (const auto& [vector, figures] : view.summary.vectors()) {
        line(vector_title(view, vector), figures);
    }
    if (view.summary.timer().count != 0) {
        line("timer wakeup", view.summary.timer());
    }
}

void print_latencies(Output& out, const SummaryView& view) {
    const auto shown = [&](const auto& pair) {
        return view.selection.is_task(view.trace.facts().names, pair.first.context);
    };
    if (std::ranges::none_of(view.latencies.pairs(), shown)) {
        return;
    }
    const Times times(view.trace.facts().clock.khz);
    print_heading(out, fmt::format("{:<14} {:<14} {:>6} {:>9} {:>9} {:>9} {:>8}", "latencies", "leg", "count", "least",
                                   "mean", "greatest", "record"));
    if (shows_hosts_clock(view.trace)) {
        out.print("  {}\n", out.styled(Style::warning, kEmulatedNote));
    }
    if (const std::string_view missing = analyse::raises_missing(view.latencies); !missing.empty()) {
        out.print("  raise: not known: {}\n", missing);
    } else if (const auto& raises = *view.latencies.raises(); raises.observed != raises.raised.size()) {
        out.print("  raise: {} of {} interrupts were observed\n", grouped(raises.observed),
                  grouped(raises.raised.size()));
    }
    for (const auto& [pair, legs] : view.latencies.pairs()) {
        if (!view.selection.is_task(view.trace.facts().names, pair.context)) {
            continue;
        }
        std::array<std::string, 2> titles = {vector_title(view, pair.vector), "  " + task_title(view, pair.context)};
        std::size_t line = 0;
        for (const analyse::LegName& name : analyse::kLegs) {
            const analyse::Leg& leg = legs.*name.leg;
            if (!leg.greatest) {
                continue;
            }
            out.print("  {:<12} {:<14} {:>6} {:>9} {:>9} {:>9} {:>8}\n",
                      line < titles.size() ? shortened(titles[line], 12) : "", name.text,
                      grouped(leg.durations.count()), times.text(leg.durations.least()),
                      times.text(leg.durations.mean()), times.text(leg.durations.greatest()), leg.greatest->record);
            ++line;
        }
    }
}

void print_user_events(Output& out, const SummaryView& view) {
    if (view.shown.user_events().empty()) {
        return;
    }
    print_heading(out, fmt::format("{:<48} {:>10}", "typed and formatted events", "count"));
    for (const auto& [name, count] : view.shown.user_events()) {
        out.print("  {:<46} {:>10}\n", shortened(text::escaped(name), 46), grouped(count));
    }
}

void print_families(Output& out, const SummaryView& view) {
    print_heading(out, "records per family");
    constexpr std::size_t kPerLine = 3;
    std::size_t shown = 0;
    for (std::size_t family = 0; family < tracer::kFamilies; ++family) {
        if (view.shown.families()[family] == 0) {
            continue;
        }
        out.print("  {:<10} {:>10}{}", tracer::kFamilyNames[family], grouped(view.shown.families()[family]),
                  ++shown % kPerLine == 0 ? "\n" : "");
    }
    if (view.shown.unknown() != 0) {
        out.print("  {:<10} {:>10}", "unknown", grouped(view.shown.unknown()));
        ++shown;
    }
    out.print("{}", shown % kPerLine == 0 ? "" : "\n");
}

} // namespace

void print_summary(Output& out, const SummaryView& view) {
    print_crashes(out, view.crashes);
    print_head(out, view);
    print_tasks(out, view);
    print_processors(out, view);
    print_responses(out, view);
    print_interrupts(out, view);
    print_latencies(out, view);
    print_families(out, view);
    print_user_events(out, view);
}

} // namespace host::cli
