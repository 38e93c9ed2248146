// SPDX-License-Identifier: MIT
// Writes the figures of a trace as JSON. Keys are stable: new ones may be added, and none changes its meaning.
// Durations are in ns, null while the clock's rate is not known or if they were not recorded.
#include "host/cli/command/summary/summary_view.hpp"
#include "host/cli/event/event_lines.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/names.hpp"
#include "lib/wire_numbers.hpp"

namespace host::cli {

namespace {

using Json = text::JsonDocument;

std::optional<std::uint64_t> ns(const SummaryView& view, lib::Ticks ticks) {
    const std::uint32_t khz = view.trace.facts().clock.khz;
    return khz != 0 ? std::optional(lib::TickRate{khz}.to_nanoseconds(ticks).value) : std::nullopt;
}

// Writes a duration both in ticks, which is exact, and in nanoseconds.
void add_time(Json& json, const SummaryView& view, std::string_view name, lib::Ticks ticks) {
    json.member(std::string(name) + "_ticks", ticks.value);
    json.member(std::string(name) + "_ns", ns(view, ticks));
}

void add_durations(Json& json, const SummaryView& view, const analyse::Durations& durations) {
    json.member("count", durations.count());
    add_time(json, view, "least", durations.least());
    add_time(json, view, "mean", durations.mean());
    add_time(json, view, "greatest", durations.greatest());
}

void add_durations(Json& json, const SummaryView& view, std::string_view name, const analyse::Durations& durations) {
    json.begin_object(name);
    add_durations(json, view, durations);
    add_time(json, view, "total", durations.sum());
    json.end_object();
}

// Writes the quantities of docs/metrics.md. They are zero for a task without complete jobs.
void add_metrics(Json& json, const SummaryView& view, const analyse::TaskMetrics& metrics) {
    json.begin_object("response");
    add_durations(json, view, metrics.response);
    for (const std::uint32_t percent : analyse::TaskMetrics::kPercentiles) {
        add_time(json, view, fmt::format("percentile_{}", percent), metrics.percentile(percent));
    }
    add_time(json, view, "absolute_jitter", metrics.absolute_finishing_jitter());
    add_time(json, view, "relative_jitter", metrics.relative_finishing_jitter());
    json.end_object();
    add_time(json, view, "start_jitter", metrics.start_jitter());
    for (std::size_t i = 0; i < metrics.parts.size(); ++i) {
        add_durations(json, view, schedule::kPartNames[i], metrics.parts[i]);
    }
    add_durations(json, view, "gross", metrics.gross);
    json.begin_object("blocking_by");
    for (std::size_t i = 1; i < metrics.blocking_by.size(); ++i) {
        add_time(json, view, schedule::kInversionNames[i], metrics.blocking_by[i]);
    }
    json.end_object();
    json.member("job_records", metrics.records.sum().value);
    const auto tracing = analyse::tracing_time(view.trace.facts().cost, metrics.records.sum().value);
    json.member("tracing_ticks", tracing ? std::optional(tracing->value) : std::nullopt);
    json.member("tracing_ns", tracing ? ns(view, *tracing) : std::nullopt);
    json.member("job_dispatches", metrics.dispatches);
    json.member("preemptions", metrics.preemptions);
    json.member("migrations", metrics.migrations);
}

// Writes all ticks of a processor, and the shares, whose sum is 1.
void add_processors(Json& json, const SummaryView& view) {
    json.begin_array("processors");
    for (const auto& [cpu, uses] : view.summary.uses()) {
        const lib::Ticks whole = uses.sum();
        const auto add_use = [&](lib::Ticks ticks) {
            add_time(json, view, "time", ticks);
            json.member("share",
                        whole.value != 0 ? static_cast<double>(ticks.value) / static_cast<double>(whole.value) : 0.0);
        };
        json.begin_object();
        json.member("cpu", cpu);
        add_time(json, view, "time", whole);
        json.objects("tasks", uses.tasks, [&](const auto& entry) {
            const auto& [context, ticks] = entry;
            json.member("context", context);
            add_use(ticks);
        });
        json.begin_object("interrupts");
        add_use(uses.interrupts);
        json.end_object();
        json.begin_object("unknown");
        add_use(uses.unknown);
        json.end_object();
        json.end_object();
    }
    json.end_array();
}

void add_task(Json& json, const SummaryView& view, std::uint16_t context, const analyse::TaskFigures& figures) {
    const trace::Names& names = view.trace.facts().names;
    const trace::TaskNames* const task = names.task(context);
    json.begin_object();
    json.member("context", context);
    json.member("name", task != nullptr ? text::escaped(task->name) : "");
    json.member("pid", task != nullptr ? task->pid : std::nullopt);
    if (task != nullptr && task->parameters) {
        json.member("level", text::escaped(names.find(tracer::Unit::level, task->parameters->level)));
        json.member("wcet_ns", task->parameters->wcet_ns);
        json.member("period_ns", task->parameters->period_ns);
        json.member("deadline_ns", task->parameters->deadline_ns);
    } else {
        json.member("level", nullptr);
    }
    json.member("activations", figures.activations);
    json.member("timer_releases", figures.releases);
    json.member("dispatches", figures.dispatches);
    json.member("jobs", figures.jobs);
    json.member("cpu_time_ns", ns(view, figures.cpu_time));
    json.member("deadline_misses", figures.deadline_misses);
    json.member("wcet_violations", figures.wcet_violations);
    json.member("inheritances", figures.inheritances);
    static const analyse::TaskMetrics none;
    const auto found = view.metrics.tasks().find(context);
    const analyse::TaskMetrics& metrics = found != view.metrics.tasks().end() ? found->second : none;
    json.member("missed", metrics.missed);
    add_metrics(json, view, metrics);
    json.end_object();
}

void add_vector_figures(Json& json, const SummaryView& view, const analyse::VectorFigures& figures) {
    json.member("count", figures.count);
    const auto time = [&](lib::Ticks ticks) { return figures.timed() ? ns(view, ticks) : std::nullopt; };
    json.member("total_ns", time(figures.handler.sum()));
    json.member("mean_ns", time(figures.handler.mean()));
    json.member("greatest_ns", time(figures.handler.greatest()));
}

// Writes one leg under its name; null if none is known.
void add_leg(Json& json, const SummaryView& view, std::string_view name, const analyse::Leg& leg) {
    json.object_or_null(name, leg.greatest, [&](const schedule::Entry& greatest) {
        json.member("count", leg.durations.count());
        json.member("least_ns", ns(view, leg.durations.least()));
        json.member("mean_ns", ns(view, leg.durations.mean()));
        json.member("greatest_ns", ns(view, leg.durations.greatest()));
        json.begin_object("greatest");
        json.member("file", text::escaped(view.trace.facts().chunks[greatest.source].file));
        json.member("record", greatest.record);
        json.member("time_ns", greatest.at.ns);
        json.member("ticks", greatest.at.ticks.value);
        json.end_object();
    });
}

// raises: the number of interrupts that an observer saw; null without an observer, and `missing` says why no raise is
// known.
void add_latencies(Json& json, const SummaryView& view) {
    const std::string_view missing = analyse::raises_missing(view.latencies);
    json.member("raises_missing", missing.empty() ? std::nullopt : std::optional(missing));
    json.object_or_null("raises", view.latencies.raises(), [&](const schedule::Raises& raises) {
        json.member("interrupts", raises.raised.size());
        json.member("observed", raises.observed);
    });
    json.begin_array("latencies");
    for (const auto& [pair, legs] : view.latencies.pairs()) {
        const trace::Names& names = view.trace.facts().names;
        if (!view.selection.is_task(names, pair.context)) {
            continue;
        }
        json.begin_object();
        json.member("vector", pair.vector);
        json.member("vector_name", text::escaped(names.find(tracer::Unit::vector, pair.vector)));
        json.member("context", pair.context);
        json.member("context_name", text::escaped(names.find(tracer::Unit::context, pair.context)));
        for (const analyse::LegName& name : analyse::kLegs) {
            add_leg(json, view, name.key, legs.*name.leg);
        }
        json.end_object();
    }
    json.end_array();
}

// Writes null while the cost of a record is not known. It is an estimate under the clock that clock.mode names.
void add_tracing(Json& json, const SummaryView& view) {
    json.object_or_null("tracing", tracing_share(view), [&](const analyse::TracingShare& tracing) {
        const auto& cost = view.trace.facts().cost;
        const auto ticks = [](std::uint32_t ticks_x256) { return static_cast<double>(ticks_x256) / 256; };
        json.member("estimate", true);
        json.member("records", tracing.records);
        json.member("enabled_ticks", ticks(cost->enabled_ticks_x256));
        json.member("filtered_ticks", ticks(cost->filtered_ticks_x256));
        json.member("disabled_ticks", ticks(cost->disabled_ticks_x256));
        json.member("rounds", cost->rounds);
        json.member("clock_mode", formats::dat::clock_mode_name(view.trace.facts().clock.mode));
        json.member("time_ticks", tracing.time.value);
        json.member("time_ns", ns(view, tracing.time));
        json.member("share", tracing.share);
    });
}

// Writes null if the run's chunks are not compact, or if the kernel does not state their layout.
void add_compact(Json& json, const SummaryView& view) {
    const auto& cost = view.trace.facts().cost;
    const bool is_compact = cost && cost->choice != tracer::LayoutChoice::plain;
    json.object_or_null("compact", is_compact ? cost : std::nullopt, [&](const tracer::TraceCost& of) {
        json.member("layout", formats::dat::layout_name(of.layout));
        json.member("by_auto", of.choice == tracer::LayoutChoice::measured);
        json.member("plain_ticks", static_cast<double>(of.plain_ticks_x256) / 256);
        json.member("timer_ticks", of.timer_ticks);
    });
}

// Writes null if the kernel's clock was never set back.
void add_compensation(Json& json, const SummaryView& view) {
    const auto& compensation = view.trace.facts().compensation;
    json.object_or_null("compensation", compensation, [&](const trace::Compensation& of) {
        json.member("removed_ticks", of.removed.value);
        json.member("settings", of.settings);
        json.begin_object("steps");
        for (std::size_t i = 0; i < of.steps.size(); ++i) {
            json.member(lib::kWords<lib::StepOutcome>[i], of.steps[i]);
        }
        json.end_object();
    });
}

void add_build(Json& json, const std::optional<tracer::Build>& build) {
    json.object_or_null("build", build, [&](const tracer::Build& of) {
        json.member("kernel", text::escaped(of.kernel.view()));
        json.member("compiler", text::escaped(of.compiler.view()));
        json.member("application", text::escaped(of.application.view()));
        json.member("seed", of.seed);
    });
}

void add_head(Json& json, const SummaryView& view) {
    const trace::TraceFacts& facts = view.trace.facts();
    const auto& manifest = view.trace.manifest();
    const auto& end = manifest && manifest->announced ? manifest->announced : facts.export_end;
    const bool emulated = shows_hosts_clock(view.trace);
    json.member("version", kJsonVersion);
    json.member("trace", text::escaped(view.title));
    add_build(json, !facts.build && manifest ? manifest->build : facts.build);
    json.member("result", end ? std::optional(formats::dat::run_result_name(end->result)) : std::nullopt);
    json.member("duration_ns", ns(view, view.summary.duration()));
    json.member("cpus", view.summary.cpus());
    json.member("chunks", facts.chunks.size());
    json.begin_object("clock");
    json.member("mode", formats::dat::clock_mode_name(facts.clock.mode));
    json.member("tsc_khz", facts.clock.khz);
    json.member("source", formats::dat::tsc_source_name(facts.clock.source));
    json.member("error_ppm", facts.clock.error_ppm);
    json.member("exact", !emulated && facts.clock.khz != 0);
    json.end_object();
    json.member("note", emulated ? std::optional(kEmulatedNote) : std::nullopt);
    json.member("complete", view.verdict.whole);
    json.member("verdict", view.verdict.text);
    if (view.summary.filtered() != 0) {
        json.member("unknown", trace::filters_text(view.summary.filtered()));
    }
}

void add_records(Json& json, const SummaryView& view) {
    json.begin_object("records");
    json.member("committed", view.accounts.committed);
    json.member("dropped", view.accounts.dropped);
    json.member("refused", view.accounts.refused);
    json.member("overwritten", view.accounts.overwritten);
    json.member("missing", view.accounts.missing);
    json.member("skipped", view.accounts.skipped);
    json.member("lost_packets", view.accounts.lost_packets);
    json.member("lost_chunks", view.accounts.lost_chunks);
    json.end_object();
}

void add_event_counts(Json& json, const analyse::Summary& summary) {
    json.begin_object("families");
    for (std::size_t family = 0; family < tracer::kFamilies; ++family) {
        if (summary.families()[family] != 0) {
            json.member(tracer::kFamilyNames[family], summary.families()[family]);
        }
    }
    json.end_object();
    json.begin_object("user_events");
    for (const auto& [name, count] : summary.user_events()) {
        json.member(text::escaped(name), count);
    }
    json.end_object();
    json.member("unknown", summary.unknown());
}

} // namespace

void print_summary_json(Output& out, const SummaryView& view) {
    Json json{out.buffer()};
    json.begin_object();
    add_head(json, view);
    add_records(json, view);
    add_tracing(json, view);
    add_compact(json, view);
    add_compensation(json, view);
    if (!view.selection.everything()) {
        json.member("part", text::escaped(view.selection.text()));
    }
    add_event_counts(json, view.shown);
    json.member("interrupt_time_ns", ns(view, view.summary.interrupt_time()));
    add_processors(json, view);
    json.begin_array("tasks");
    for (const auto& [context, figures] : view.summary.tasks()) {
        if (view.selection.is_task(view.trace.facts().names, context)) {
            add_task(json, view, context, figures);
        }
    }
    json.end_array();
    json.objects("interrupts", view.summary.vectors(), [&](const auto& entry) {
        const auto& [vector, figures] = entry;
        json.member("vector", vector);
        json.member("name", text::escaped(view.trace.facts().names.find(tracer::Unit::vector, vector)));
        add_vector_figures(json, view, figures);
    });
    json.begin_object("timer_wakeups");
    add_vector_figures(json, view, view.summary.timer());
    json.end_object();
    add_latencies(json, view);
    json.member("panics", view.summary.panics());
    json.array("crashes", view.crashes, [&json](const analyse::Crash& crash) { write_json(json, crash); });
    json.end_object();
    json.blank("\n");
}

} // namespace host::cli
