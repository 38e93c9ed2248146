// SPDX-License-Identifier: MIT
#include "host/cli/command/report/report_reading.hpp"

#include "host/cli/command/judge/verdict.hpp"
#include "host/cli/command/summary/summary_view.hpp"
#include "host/text/escape.hpp"

#include <utility>

namespace host::cli {

namespace {

constexpr std::size_t kViolationsShown = 1000;

const char* name_of(Style style) {
    return style == Style::good ? "good" : style == Style::bad ? "bad" : "warning";
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
    m_latencies.add(event);
    m_latencies.add(event, event.code, m_schedule.add(event, facts.clock.khz), m_schedule.schedule());
    if (report::EventTables::concerns(event)) {
        m_events.add(event, task_of(event));
    }
    m_oracle.add(event, facts);
}

void Reading::finish() {
    m_oracle.finish(m_trace.facts());
    m_latencies.finish();
    m_schedule.finish(m_trace.facts().names);
    m_finished = true;
}

report::Trace Reading::tables() {
    const trace::TraceFacts& facts = m_trace.facts();
    const Accounts accounts = accounts_of(m_trace);
    if (m_finished) {
        const Verdict verdict = verdict_of(m_trace, accounts);
        m_whole = verdict.whole;
        m_head.verdict = verdict.text;
        m_head.verdict_style = name_of(verdict.style);
    } else {
        m_head.verdict = "the run continues";
        m_head.verdict_style = "plain";
    }
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

// Who logged the event, or whom it is about: the row + 1, 0: none.
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

} // namespace host::cli
