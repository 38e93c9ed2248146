// SPDX-License-Identifier: MIT
// remora report: a run as one HTML page.
#include "host/analyse/oracle/oracle.hpp"
#include "host/cli/command/raises_option.hpp"
#include "host/cli/command/summary_view.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/convert/output_file.hpp"
#include "host/report/document.hpp"
#include "host/text/escape.hpp"

#include <memory>
#include <set>

namespace host::cli {

namespace {

using analyse::oracle::Finding;
using analyse::oracle::Oracle;

// With more intervals a browser takes longer to open the page, and more memory, than a reader waits for.
constexpr std::uint64_t kIntervalsMax = 4'000'000;
constexpr std::size_t kViolationsShown = 1000;

struct ReportOptions {
    TraceInput input;
    std::string output;
    std::string raises;
    std::uint64_t intervals_max = kIntervalsMax;
};

// One trace, read into tables.
class Reading {
  public:
    Reading(const ReportOptions& options, std::optional<std::vector<schedule::Observed>> observed,
            const formats::Trace& trace)
        : m_axis({.from_ns = options.input.selection.from_ns, .to_ns = options.input.selection.to_ns})
        , m_schedule(m_axis, options.intervals_max)
        , m_latencies(std::move(observed))
        , m_trace(trace) {}

    void add(const trace::Event& event) {
        const trace::TraceFacts& facts = m_trace.facts();
        m_axis.saw(event, facts.clock.khz);
        if (!event.metadata) {
            m_cpus.insert(event.cpu);
            ++m_head.events;
        }
        m_schedule.add(event, facts.clock.khz);
        if (report::EventTables::concerns(event)) {
            m_events.add(event, task_of(event));
        }
        m_oracle.add(event, facts);
        m_latencies.add(event);
    }

    [[nodiscard]] std::vector<std::byte> finish(const std::string& title) {
        const trace::TraceFacts& facts = m_trace.facts();
        m_oracle.finish(facts);
        m_latencies.finish();
        m_schedule.finish(facts.names);
        const Accounts accounts = accounts_of(m_trace);
        const Verdict verdict = verdict_of(m_trace, accounts);
        m_whole = verdict.whole;
        m_head.trace = text::escaped(title);
        m_head.verdict = verdict.text;
        m_head.verdict_style = verdict.style == Style::good ? "good" : verdict.style == Style::bad ? "bad" : "warning";
        m_head.lost = accounts.dropped + accounts.missing + accounts.skipped;
        const analyse::oracle::Tally total = m_oracle.verdicts().total();
        m_head.judgement.checked = total.checked;
        m_head.judgement.undecided = total.undecided;
        m_head.judgement.violations = total.violations;
        m_head.judgement.relaxations = m_oracle.verdicts().relaxations();
        m_head.tracing =
            analyse::tracing_share(facts.cost, accounts.committed, {m_axis.last()}, m_cpus.size(),
                                   facts.compensation ? facts.compensation->removed_meanwhile : lib::Ticks{});
        return report::contents({.head = m_head,
                                 .axis = m_axis,
                                 .schedule = m_schedule,
                                 .events = m_events,
                                 .latencies = m_latencies,
                                 .facts = facts});
    }

    [[nodiscard]] bool whole() const { return m_whole; }

    // None: the page has all that was asked for.
    [[nodiscard]] std::optional<std::int64_t> full_at_ns() const {
        return m_schedule.is_full() ? m_axis.window().to_ns : std::nullopt;
    }

    [[nodiscard]] std::uint64_t intervals() const { return m_schedule.intervals(); }

  private:
    // Who logged the event, or whom it is about: the row + 1, 0: none.
    [[nodiscard]] std::size_t task_of(const trace::Event& event) {
        const bool has_task = event.row->par1.unit == tracer::Unit::context;
        const std::uint32_t context = has_task ? event.par1 : m_schedule.running(event.cpu);
        return context < schedule::kContexts
                   ? m_schedule.tasks().number_of(static_cast<std::uint16_t>(context), *event.names) + 1
                   : 0;
    }

    void note(const Finding& finding) {
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
             .record = event.record});
    }

    report::Axis m_axis;
    report::ScheduleTables m_schedule;
    analyse::Latencies m_latencies;
    report::EventTables m_events{m_axis};
    report::Head m_head;
    Oracle m_oracle{[this](const Finding& finding) { note(finding); }, std::nullopt};
    std::set<std::uint16_t> m_cpus;
    const formats::Trace& m_trace;
    bool m_whole = true;
};

void explain_full(const Reading& reading, const ReportOptions& options, Context context) {
    if (const auto end_ns = reading.full_at_ns()) {
        context.err.print(
            "remora report: {} intervals are more than a page of {} holds: it has those before {} ns, and "
            "an overview of the rest; for another part: --from {} --to TIME\n",
            reading.intervals(), options.intervals_max, *end_ns, *end_ns);
    }
}

trace::ExitStatus report(const ReportOptions& options, Context context) {
    auto raises = observed(options.raises);
    if (!raises) {
        context.err.print("remora report: {}: {}\n", text::escaped(options.raises), raises.error().text);
        return trace::ExitStatus::usage;
    }
    return with_trace(options.input, context, "reading", [&](formats::Trace& trace) {
        const auto failed = [&](const convert::Failure& failure) {
            context.err.print("remora report: {}: {}\n", text::escaped(options.output), failure.text);
            return convert::status_of(failure.cause);
        };
        const auto destination =
            convert::Destination::open(options.output, convert::Destination::Shape::file, options.input.path);
        if (!destination) {
            return failed(destination.error());
        }
        Reading reading(options, std::move(raises.value()), trace);
        for (trace::Event event; trace.next(event);) {
            reading.add(event);
        }
        const std::vector<std::vector<std::byte>> contents = {reading.finish(options.input.path)};
        if (trace.facts().usable_events == 0) {
            return trace::ExitStatus::clean; // the caller reports it; an existing file is worth more than an empty page
        }
        destination.value()->file().append(report::page(contents));
        if (const auto committed = destination.value()->commit(); !committed) {
            return failed(committed.error());
        }
        explain_full(reading, options, context);
        return reading.whole() ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    });
}

} // namespace

void add_report(CommandLine& line, Context context) {
    Command command = line.command("report", "write a run as one HTML page: timeline, jobs, figures");
    const auto options = std::make_shared<ReportOptions>();
    options->input.options.whole_first = true; // the oracle never accuses on damaged data
    add_trace_options(command, options->input, "--to-time,--to", Part::span);
    command.option("-o,--output", options->output, "the page; -: standard output").required();
    add_raises_option(command, options->raises);
    command
        .option("--intervals-max", options->intervals_max,
                "of a longer trace the page has the first so many intervals, and an overview of the rest")
        .range(std::uint64_t{1}, std::uint64_t{1} << 32)
        .show_default();
    command.footer(
        examples({"remora report out/udp -o run.html", "remora report out/udp -o part.html --from 100ms --to 200ms"}));
    command.run([options, context] { return report(*options, context); });
}

} // namespace host::cli
