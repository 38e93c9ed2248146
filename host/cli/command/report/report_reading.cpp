// SPDX-License-Identifier: MIT
#include "host/cli/command/report/report_reading.hpp"

#include "host/cli/command/diff/diff_view.hpp"
#include "host/cli/command/summary/summary_view.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/command/why/why_view.hpp"
#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace host::cli {

namespace {

constexpr std::size_t kViolationsShown = 1000;
constexpr std::size_t kExplainedTasks = 64; // tasks whose late jobs are explained
constexpr std::size_t kExplainedJobs = 1000;

const char* name_of(Rating rating) {
    return rating == Rating::good ? "good" : rating == Rating::bad ? "bad" : "warning";
}

} // namespace

Reading::Reading(const Options& options, std::optional<std::vector<schedule::Observed>> raises,
                 const formats::Trace& trace)
    : m_axis(options.window)
    , m_schedule(m_axis, options.intervals_max)
    , m_latencies(std::move(raises))
    , m_trace(trace) {
    m_head.trace = text::escaped(options.title);
    m_head.options = options.words;
}

void Reading::add(const trace::Event& event) {
    const trace::TraceFacts& facts = m_trace.facts();
    m_axis.saw(event, facts.clock.khz);
    if (!event.metadata) {
        m_cpus.insert(event.cpu);
        ++m_head.events;
    }
    m_latencies.add(event, m_schedule.add(event, facts.clock.khz), m_schedule.schedule());
    if (report::EventTables::concerns(event)) {
        m_events.add(event, task_of(event));
    }
    m_oracle.add(event, facts);
    m_ends.take(event);
}

void Reading::finish() {
    m_oracle.finish(m_trace.facts());
    m_latencies.finish();
    m_schedule.finish(m_trace.facts().names);
    for (const analyse::Crash& crash : crashes_in(m_ends, m_trace)) {
        fmt::memory_buffer text;
        text::JsonDocument json(text);
        write_json(json, crash);
        m_head.crashes.emplace_back(text.data(), text.size());
    }
    m_finished = true;
}

void Reading::explain_late(const TraceInput& input) {
    std::set<std::uint32_t> contexts;
    for (const report::TaskRow& row : m_schedule.tasks().rows()) {
        if (row.misses != 0 && contexts.size() < kExplainedTasks) {
            contexts.insert(row.context);
        }
    }
    if (contexts.empty()) {
        return;
    }
    trace::Diagnostics silent([](std::string_view) {}); // The first pass has reported what is wrong with the trace.
    const auto trace = formats::Trace::open(input.path, input.options, silent);
    if (!trace) {
        return;
    }
    analyse::why::JobWatch watch(
        {}, [&](const trace::Names&, std::uint32_t context) { return contexts.contains(context); });
    watch.listen([&](const analyse::why::Found& found) {
        const schedule::Job& job = found.job->account.job;
        if (m_head.late.size() == kExplainedJobs || !m_axis.wants(job.release.value_or(*job.end), *job.end)) {
            return;
        }
        m_head.late.push_back({.context = job.context,
                               .end = m_axis.at(job.end->ticks),
                               .sentences = verdict_of(view_of(input.path, m_trace, found))});
    });
    trace.value()->for_each([&](const trace::Event& event) { watch.take(event, trace.value()->facts().clock.khz); });
    watch.finish();
}

report::Trace Reading::tables() {
    const trace::TraceFacts& facts = m_trace.facts();
    const Accounts accounts = accounts_of(m_trace);
    if (m_finished) {
        const Verdict verdict = verdict_of(m_trace, accounts);
        m_whole = verdict.whole;
        m_head.verdict = verdict.text;
        m_head.verdict_style = name_of(verdict.rating);
    } else {
        m_head.verdict = "the run continues";
        m_head.verdict_style = "plain";
    }
    const auto& manifest = m_trace.manifest();
    const auto& end = manifest && manifest->announced ? manifest->announced : facts.export_end;
    if (end && end->result != tracer::RunResult::unknown) {
        m_head.ended = formats::dat::run_result_name(end->result);
    }
    m_head.started_s = manifest ? manifest->started_s : 0;
    m_head.lost = accounts.dropped + accounts.missing + accounts.skipped;
    const analyse::oracle::Tally total = m_oracle.verdicts().total();
    m_head.judgement.checked = total.checked;
    m_head.judgement.undecided = total.undecided;
    m_head.judgement.violations = total.violations;
    m_head.judgement.relaxations = m_oracle.verdicts().relaxations();
    m_head.tracing = analyse::tracing_share(facts.cost, accounts.committed, {m_axis.last()}, m_cpus.size(),
                                            facts.compensation ? facts.compensation->removed_meanwhile : lib::Ticks{});
    return {.head = m_head,
            .axis = m_axis,
            .schedule = m_schedule,
            .events = m_events,
            .latencies = m_latencies,
            .facts = facts};
}

// Returns the task that logged the event, or that the event is about: its row + 1, 0: none.
std::size_t Reading::task_of(const trace::Event& event) {
    const std::uint32_t running = m_schedule.schedule().running(event.cpu);
    const std::uint32_t context = event.row->par1.unit == tracer::Unit::context   ? event.par1
                                  : event.row->par2.unit == tracer::Unit::context ? event.par2
                                                                                  : running;
    return context < schedule::kContexts
               ? m_schedule.tasks().number_of(static_cast<std::uint16_t>(context), *event.names) + 1
               : 0;
}

void Reading::note(const analyse::oracle::Finding& finding) {
    if (m_head.judgement.shown.size() >= kViolationsShown) {
        return;
    }
    const trace::Event& event = *finding.event;
    m_head.judgement.shown.push_back(
        {.at = m_axis.at(event.ticks),
         .task = finding.task ? m_schedule.tasks().number_of(*finding.task, *event.names) + 1 : 0,
         .rule = std::string(row_of(finding.rule).name),
         .text = text::escaped(finding.text),
         .file = text::escaped(m_trace.facts().chunks[event.source].file),
         .chunk = event.chunk,
         .record = event.record});
}

// --- comparison ------------------------------------------------------------------------------------------------------

namespace {

using PageJson = text::JsonText;
using analyse::Both;
using analyse::Run;
using analyse::RunPhase;

void add_side(PageJson& json, std::size_t trace, std::string_view title, std::optional<std::int64_t> from_ns,
              std::optional<std::int64_t> to_ns) {
    json.begin_object();
    json.member("trace", trace);
    json.member("title", title);
    json.member("from_ns", from_ns);
    json.member("to_ns", to_ns);
    json.end_object();
}

void add_pair(PageJson& json, const analyse::Phrases& phrases, const Both<std::size_t>& sides,
              const Both<const Run*>& runs, const Both<std::string>& titles) {
    DiffView view{.phrases = phrases, .runs = runs, .titles = titles};
    view.first = analyse::first_difference(runs[0]->decisions, runs[1]->decisions, view.tolerance);
    view.tasks = analyse::task_changes(*runs[0], *runs[1], view.tolerance);
    fmt::memory_buffer diff;
    write_diff_json(diff, view);
    json.begin_object();
    json.begin_array("of");
    json.value(sides[0]);
    json.value(sides[1]);
    json.end_array();
    json.key("diff");
    json.plain({diff.data(), diff.size()});
    json.end_object();
}

std::vector<std::byte> bytes_of(const fmt::memory_buffer& buffer) {
    const auto bytes = std::as_bytes(std::span(buffer.data(), buffer.size()));
    return {bytes.begin(), bytes.end()};
}

std::string title_of(const RunPhase& phase) {
    return fmt::format("phase {}", phase.number);
}

} // namespace

std::vector<std::byte> compared_traces(const analyse::Phrases& phrases, const Both<const Run*>& runs,
                                       const Both<std::string>& titles) {
    fmt::memory_buffer buffer;
    PageJson json(buffer);
    json.begin_object();
    json.begin_array("sides");
    for (std::size_t side = 0; side < titles.size(); ++side) {
        add_side(json, side, titles[side], std::nullopt, std::nullopt);
    }
    json.end_array();
    json.begin_array("pairs");
    add_pair(json, phrases, {0, 1}, runs, titles);
    json.end_array();
    json.member("chosen", 0);
    json.end_object();
    return bytes_of(buffer);
}

std::optional<PhasePair> phase_pair_of(const std::string& text) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view view = text;
    const auto first = text::number_of<std::uint32_t>(view.substr(0, comma));
    const auto second = text::number_of<std::uint32_t>(view.substr(std::min(comma + 1, text.size())));
    return first && second && *first != *second ? std::optional(PhasePair{*first, *second}) : std::nullopt;
}

std::vector<std::byte> compared_phases(const analyse::Phrases& phrases, const Run& run,
                                       std::span<const RunPhase> phases, const std::optional<PhasePair>& chosen) {
    fmt::memory_buffer buffer;
    PageJson json(buffer);
    json.begin_object();
    std::vector<Run> parts;
    json.array("sides", phases, [&](const RunPhase& phase) {
        add_side(json, 0, title_of(phase), phase.from_ns, phase.to_ns);
        parts.push_back(analyse::part_of(run, phase.from_ns, phase.to_ns));
    });
    std::size_t pairs = 0;
    std::optional<std::size_t> shown;
    json.begin_array("pairs");
    for (std::size_t a = 0; a < phases.size(); ++a) {
        for (std::size_t b = 0; b < phases.size(); ++b) {
            if (a == b) {
                continue;
            }
            add_pair(json, phrases, {a, b}, {&parts[a], &parts[b]}, {title_of(phases[a]), title_of(phases[b])});
            if (chosen && phases[a].number == (*chosen)[0] && phases[b].number == (*chosen)[1]) {
                shown = pairs;
            }
            ++pairs;
        }
    }
    json.end_array();
    json.member("chosen", shown);
    json.end_object();
    return bytes_of(buffer);
}

} // namespace host::cli
