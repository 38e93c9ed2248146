// SPDX-License-Identifier: MIT
// remora check: did the kernel decide as the scheduling theory says? Exit status 2 on any violation.
#include "host/analyse/oracle/oracle.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/json_version.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/names.hpp"

#include <memory>

namespace host::cli {

namespace {

using analyse::oracle::Finding;
using analyse::oracle::kRules;
using analyse::oracle::Oracle;
using analyse::oracle::RuleRow;
using analyse::oracle::Subject;
using analyse::oracle::Tally;
using analyse::oracle::Verdicts;

struct CheckOptions {
    TraceInput input;
    bool json = false;
    bool rules = false;
    bool strict = false;
    std::optional<std::uint64_t> tolerance;
    std::uint64_t shown = 1;
};

std::string task_text(const trace::Event& event, std::uint16_t context) {
    const std::string_view name = event.names->find(tracer::Unit::context, context);
    return name.empty() ? fmt::format("context {}", context) : fmt::format("{} ({})", text::escaped(name), context);
}

// Shows the first violations of the trace as they are found; the others are counted.
class FindingReport {
  public:
    FindingReport(Output& out, const formats::Trace& trace, const CheckOptions& options)
        : m_out(out)
        , m_trace(trace)
        , m_options(options) {
        m_json.begin_array();
    }

    void show(const Finding& finding) {
        if (m_found++ >= m_options.shown) {
            return;
        }
        const trace::Event& event = *finding.event;
        const RuleRow& row = row_of(finding.rule);
        const std::string file = text::escaped(m_trace.facts().chunks[event.source].file);
        if (m_options.json) {
            m_json.begin_object();
            m_json.member("rule", row.name);
            m_json.member("source", row.source);
            m_json.member("file", file);
            m_json.member("record", event.record);
            m_json.member("time_ns", event.timed ? std::optional(event.time_ns) : std::nullopt);
            m_json.member("ticks", event.ticks.value);
            m_json.member("event", event.row->name);
            m_json.member("task", finding.task);
            m_json.member("text", text::escaped(finding.text));
            m_json.end_object();
            return;
        }
        m_out.print("{}  {} record {}  {} {}  {}{}: {}\n", m_out.styled(Style::bad, row.name), file, event.record,
                    event.timed ? fmt::format("{}", event.time_ns) : fmt::format("{}", event.ticks.value),
                    event.timed ? "ns" : "ticks", event.row->name,
                    finding.task ? "  " + task_text(event, *finding.task) : "", text::escaped(finding.text));
    }

    // All findings shown, as a JSON array. Called once.
    [[nodiscard]] std::string_view json() {
        m_json.end_array();
        return {m_findings.data(), m_findings.size()};
    }

  private:
    Output& m_out;
    const formats::Trace& m_trace;
    const CheckOptions& m_options;
    std::uint64_t m_found = 0;
    fmt::memory_buffer m_findings;
    text::JsonDocument m_json{m_findings, 1};
};

std::string subjects_text(const Verdicts& verdicts) {
    std::string text;
    for (std::size_t i = 0; i < analyse::oracle::kSubjectNames.size(); ++i) {
        const Tally tally = verdicts.of(static_cast<Subject>(i));
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", tally.checked, analyse::oracle::kSubjectNames[i]);
    }
    return text;
}

void print_text(Output& out, const Oracle& oracle) {
    const Verdicts& verdicts = oracle.verdicts();
    for (const RuleRow& row : kRules) {
        const Tally& tally = verdicts.of(row.rule);
        if (tally.checked == 0 && tally.undecided == 0) {
            continue;
        }
        const std::string undecided = tally.undecided != 0 ? fmt::format(", {} undecided", tally.undecided) : "";
        out.print("  {:<21} {} checked{}{}\n", row.name, tally.checked, out.styled(Style::dim, undecided),
                  tally.violations == 0 ? ""
                                        : ", " + out.styled(Style::bad, fmt::format("{} violation{}", tally.violations,
                                                                                    tally.violations == 1 ? "" : "s")));
    }
    for (const std::string& relaxation : verdicts.relaxations()) {
        out.print("  {} {}\n", out.styled(Style::warning, "relaxed:"), text::escaped(relaxation));
    }
    const Tally total = verdicts.total();
    out.print("{} events; checked {}; {} undecided: {}\n", oracle.events(), subjects_text(verdicts), total.undecided,
              total.violations == 0 ? out.styled(total.checked == 0 ? Style::warning : Style::good,
                                                 total.checked == 0 ? "nothing was decided" : "as the theory says")
                                    : out.styled(Style::bad, fmt::format("{} violations", total.violations)));
}

void add_tally(text::JsonDocument& json, std::string_view name, const Tally& tally) {
    json.key(name);
    json.begin_object();
    json.member("checked", tally.checked);
    json.member("undecided", tally.undecided);
    json.member("violations", tally.violations);
    json.end_object();
}

void print_json(Output& out, const Oracle& oracle, FindingReport& report) {
    const Verdicts& verdicts = oracle.verdicts();
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("events", oracle.events());
    json.member("holds", verdicts.total().violations == 0);
    json.member("tolerance_ticks", oracle.timing().tolerance);
    json.member("stamps_judged", oracle.timing().judged);
    add_tally(json, "total", verdicts.total());
    json.key("subjects");
    json.begin_object();
    for (std::size_t i = 0; i < analyse::oracle::kSubjectNames.size(); ++i) {
        add_tally(json, analyse::oracle::kSubjectNames[i], verdicts.of(static_cast<Subject>(i)));
    }
    json.end_object();
    json.key("rules");
    json.begin_object();
    for (const RuleRow& row : kRules) {
        add_tally(json, row.name, verdicts.of(row.rule));
    }
    json.end_object();
    json.key("relaxed");
    json.begin_array();
    for (const std::string& relaxation : verdicts.relaxations()) {
        json.value(text::escaped(relaxation));
    }
    json.end_array();
    json.key("violations");
    json.plain(report.json());
    json.end_object();
    json.blank("\n");
}

void print_rules_json(Output& out) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.key("rules");
    json.begin_array();
    for (const RuleRow& row : kRules) {
        json.begin_object();
        json.member("rule", row.name);
        json.member("subject", analyse::oracle::kSubjectNames[static_cast<std::size_t>(row.subject)]);
        json.member("meaning", row.meaning);
        json.member("source", row.source);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    json.blank("\n");
}

void print_rules(Output& out) {
    for (const RuleRow& row : kRules) {
        out.print("{:<21} {} [{}]\n", out.styled(Style::strong, row.name), row.meaning, row.source);
    }
}

trace::ExitStatus check(const CheckOptions& options, Context context) {
    if (options.rules) {
        options.json ? print_rules_json(context.out) : print_rules(context.out);
        return trace::ExitStatus::clean;
    }
    if (options.input.path.empty()) {
        context.err.print("remora check: TRACE is missing: name a session directory, a .dat file, or -\n");
        return trace::ExitStatus::usage;
    }
    return with_trace(options.input, context, [&](formats::Trace& trace) {
        FindingReport report(context.out, trace, options);
        Oracle oracle([&report](const Finding& finding) { report.show(finding); }, options.tolerance);
        trace::Event event;
        while (trace.next(event)) {
            oracle.add(event, trace.facts());
        }
        oracle.finish(trace.facts());
        options.json ? print_json(context.out, oracle, report) : print_text(context.out, oracle);
        const Tally total = oracle.verdicts().total();
        if (options.strict && oracle.verdicts().of(Subject::dispatch).checked == 0) {
            context.err.print("remora check: no dispatch could be checked, and --must-decide was asked for\n");
            return trace::ExitStatus::damaged;
        }
        return total.violations == 0 ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    });
}

} // namespace

void add_check(CommandLine& line, Context context) {
    Command command =
        line.command("check", "compare every decision with the scheduling theory; exit status 2 on violation");
    const auto options = std::make_shared<CheckOptions>();
    add_trace_options(command, options->input);
    command.described("TRACE").required(false); // --rules needs none
    command.flag("--json", options->json, "as JSON");
    command.flag("--rules", options->rules, "list the rules, what they say and where they come from");
    command.flag("--must-decide", options->strict, "fail if no dispatch could be checked");
    command.option("--show", options->shown, "so many violations in full; the others are counted").show_default();
    command.option(
        "--tolerance", options->tolerance,
        fmt::format(
            "ticks by which what two stamps measure may differ from the kernel's own reckoning (default {}, more "
            "where tasks ran in steps, if the clock counts instructions; else what stamps measure is not "
            "judged)",
            analyse::oracle::kToleranceTicks));
    command.footer(examples({"remora check out/udp", "remora check --rules"}));
    command.run([options, context] {
        context.out.page();
        return check(*options, context);
    });
}

} // namespace host::cli
