// SPDX-License-Identifier: MIT
// The figures of a trace as JSON. Keys are stable: new ones may come, none changes its meaning. Durations are in ns,
// null while the clock's rate is not known.
#include "host/cli/json_version.hpp"
#include "host/cli/summary_view.hpp"

#include "host/trace/escape.hpp"
#include "host/trace/json.hpp"
#include "host/trace/names.hpp"

namespace host::cli {

namespace {

using trace::Json;

Json ns(const SummaryView& view, lib::Ticks ticks) {
    const std::uint32_t khz = view.trace.facts().clock.khz;
    return khz != 0 ? Json(lib::TickRate{khz}.to_nanoseconds(ticks).value) : Json();
}

Json durations(const SummaryView& view, const analyse::Durations& durations) {
    return {{"count", durations.count()},
            {"least_ns", ns(view, durations.least())},
            {"mean_ns", ns(view, durations.mean())},
            {"greatest_ns", ns(view, durations.greatest())}};
}

Json task_to_json(const SummaryView& view, std::uint16_t context, const analyse::TaskFigures& figures) {
    const trace::Names& names = view.trace.facts().names;
    const trace::TaskNames* const task = names.task(context);
    Json json;
    json["context"] = context;
    json["name"] = task != nullptr ? trace::escaped(task->name) : "";
    json["pid"] = task != nullptr && task->pid ? Json(*task->pid) : Json();
    json["level"] = nullptr;
    if (task != nullptr && task->parameters) {
        json["level"] = trace::escaped(names.find(tracer::Unit::level, task->parameters->level));
        json["wcet_ns"] = task->parameters->wcet_ns;
        json["period_ns"] = task->parameters->period_ns;
        json["deadline_ns"] = task->parameters->deadline_ns;
    }
    json["activations"] = figures.activations;
    json["timer_releases"] = figures.releases;
    json["dispatches"] = figures.dispatches;
    json["jobs"] = figures.jobs;
    json["cpu_time_ns"] = ns(view, figures.cpu_time);
    json["deadline_misses"] = figures.deadline_misses;
    json["wcet_violations"] = figures.wcet_violations;
    json["inheritances"] = figures.inheritances;
    json["response"] = durations(view, figures.response);
    return json;
}

Json vector_to_json(const SummaryView& view, const analyse::VectorFigures& figures) {
    return {{"count", figures.count},
            {"total_ns", ns(view, figures.handler.sum())},
            {"mean_ns", ns(view, figures.handler.mean())},
            {"greatest_ns", ns(view, figures.handler.greatest())}};
}

// Null while the cost of a record is not known. An estimate under the clock that clock.mode names.
Json tracing_to_json(const SummaryView& view) {
    const auto& cost = view.trace.facts().cost;
    const auto tracing = tracing_share(view);
    if (!tracing) {
        return {};
    }
    const auto ticks = [](std::uint32_t ticks_x256) { return static_cast<double>(ticks_x256) / 256; };
    return {{"estimate", true},
            {"records", tracing->records},
            {"enabled_ticks", ticks(cost->enabled_ticks_x256)},
            {"filtered_ticks", ticks(cost->filtered_ticks_x256)},
            {"disabled_ticks", ticks(cost->disabled_ticks_x256)},
            {"rounds", cost->rounds},
            {"clock_mode", trace::clock_mode_name(view.trace.facts().clock.mode)},
            {"time_ticks", tracing->time.value},
            {"time_ns", ns(view, tracing->time)},
            {"share", tracing->share ? Json(*tracing->share) : Json()}};
}

// Null if the kernel's clock was never set back.
Json compensation_to_json(const SummaryView& view) {
    const auto& told = view.trace.facts().compensation;
    if (!told) {
        return {};
    }
    Json steps;
    for (std::size_t i = 0; i < told->steps.size(); ++i) {
        steps[std::string(tracer::kStepOutcomeNames[i])] = told->steps[i];
    }
    return {{"removed_ticks", told->removed.value}, {"settings", told->settings}, {"steps", steps}};
}

Json head(const SummaryView& view) {
    const trace::TraceFacts& facts = view.trace.facts();
    const auto& manifest = view.trace.manifest();
    const auto& build = facts.build ? facts.build : manifest ? manifest->build : facts.build;
    const auto& end = manifest && manifest->announced ? manifest->announced : facts.export_end;
    Json json;
    json["version"] = kJsonVersion;
    json["trace"] = trace::escaped(view.title);
    json["build"] = nullptr;
    if (build) {
        json["build"] = {{"kernel", trace::escaped(build->kernel.view())},
                         {"compiler", trace::escaped(build->compiler.view())},
                         {"application", trace::escaped(build->application.view())},
                         {"seed", build->seed}};
    }
    json["result"] = end ? Json(trace::run_result_name(end->result)) : Json();
    json["duration_ns"] = ns(view, view.summary.duration());
    json["cpus"] = view.summary.cpus();
    json["chunks"] = facts.chunks.size();
    json["clock"] = {{"mode", trace::clock_mode_name(facts.clock.mode)},
                     {"tsc_khz", facts.clock.khz},
                     {"source", trace::tsc_source_name(facts.clock.source)},
                     {"error_ppm", facts.clock.error_ppm},
                     {"exact", !shows_hosts_clock(view.trace) && facts.clock.khz != 0}};
    json["note"] = shows_hosts_clock(view.trace) ? Json(kEmulatedNote) : Json();
    return json;
}

} // namespace

void print_summary_json(Output& out, const SummaryView& view) {
    Json json = head(view);
    json["complete"] = view.verdict.whole;
    json["verdict"] = view.verdict.text;
    json["records"] = {{"committed", view.accounts.committed},       {"dropped", view.accounts.dropped},
                       {"refused", view.accounts.refused},           {"overwritten", view.accounts.overwritten},
                       {"missing", view.accounts.missing},           {"skipped", view.accounts.skipped},
                       {"lost_packets", view.accounts.lost_packets}, {"lost_chunks", view.accounts.lost_chunks}};
    json["tracing"] = tracing_to_json(view);
    json["compensation"] = compensation_to_json(view);
    json["families"] = Json::object();
    for (std::size_t family = 0; family < tracer::kFamilies; ++family) {
        if (view.summary.families()[family] != 0) {
            json["families"][std::string(tracer::kFamilyNames[family])] = view.summary.families()[family];
        }
    }
    json["user_events"] = Json::object();
    for (const auto& [name, count] : view.summary.user_events()) {
        json["user_events"][trace::escaped(name)] = count;
    }
    json["unknown"] = view.summary.unknown();
    json["interrupt_time_ns"] = ns(view, view.summary.interrupt_time());
    json["tasks"] = Json::array();
    for (const auto& [context, figures] : view.summary.tasks()) {
        json["tasks"].push_back(task_to_json(view, context, figures));
    }
    json["interrupts"] = Json::array();
    for (const auto& [vector, figures] : view.summary.vectors()) {
        Json entry = {{"vector", vector},
                      {"name", trace::escaped(view.trace.facts().names.find(tracer::Unit::vector, vector))}};
        entry.update(vector_to_json(view, figures));
        json["interrupts"].push_back(std::move(entry));
    }
    json["timer_wakeups"] = vector_to_json(view, view.summary.timer());
    json["panics"] = view.summary.panics();
    out.print("{}\n", json.dump(2));
}

} // namespace host::cli
