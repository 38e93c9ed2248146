// SPDX-License-Identifier: MIT
// remora check: did the kernel decide as the scheduling theory says? Exit status 2 on any violation.
#include "host/analyse/oracle/oracle.hpp"
#include "host/cli/command/finding_report.hpp"

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
    bool rules = false;
    bool strict = false;
    std::optional<std::uint64_t> tolerance;
    std::uint64_t shown = 1;
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
    FindingReport::print_relaxations(out, verdicts.relaxations());
    const Tally total = verdicts.total();
    out.print("{} events; checked {}; {} undecided: {}\n", oracle.events(), subjects_text(verdicts), total.undecided,
              total.violations == 0 ? out.styled(total.checked == 0 ? Style::warning : Style::good,
                                                 total.checked == 0 ? "nothing was decided" : "as the theory says")
                                    : out.styled(Style::bad, fmt::format("{} violations", total.violations)));
}

void add_tally(text::JsonDocument& json, std::string_view name, const Tally& tally) {
    json.begin_object(name);
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
    json.begin_object("subjects");
    for (std::size_t i = 0; i < analyse::oracle::kSubjectNames.size(); ++i) {
        add_tally(json, analyse::oracle::kSubjectNames[i], verdicts.of(static_cast<Subject>(i)));
    }
    json.end_object();
    json.begin_object("rules");
    for (const RuleRow& row : kRules) {
        add_tally(json, row.name, verdicts.of(row.rule));
    }
    json.end_object();
    report.end(json, verdicts.relaxations());
}

void print_rules_json(Output& out) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.begin_array("rules");
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
    context.out.page();
    if (options.rules) {
        options.input.json ? print_rules_json(context.out) : print_rules(context.out);
        return trace::ExitStatus::clean;
    }
    if (options.input.path.empty()) {
        context.err.print("remora check: TRACE is missing: name a session directory, a .dat file, or -\n");
        return trace::ExitStatus::usage;
    }
    return with_trace(options.input, context, "checking", [&](formats::Trace& trace) {
        FindingReport report(context.out, trace, FindingReport::Subject::decisions, options.input.json);
        Selection selection(options.input.selection);
        // The first violations of the part asked for; all of the trace are counted.
        const auto show = [&, shown = std::uint64_t{0}](const Finding& finding) mutable {
            if (selection.is_about(*finding.event, finding.task) && shown++ < options.shown) {
                const RuleRow& row = row_of(finding.rule);
                report.show({.rule = row.name,
                             .source = row.source,
                             .event = finding.event,
                             .task = finding.task,
                             .text = text::escaped(finding.text)});
            }
        };
        Oracle oracle(show, options.tolerance);
        trace::Event event;
        while (trace.next(event)) {
            selection.take_note(event);
            oracle.add(event, trace.facts());
        }
        oracle.finish(trace.facts());
        options.input.json ? print_json(context.out, oracle, report) : print_text(context.out, oracle);
        if (!selection.everything() && !options.input.json) {
            context.out.print("  shown      the violations of {}; the numbers are of the whole trace\n",
                              text::escaped(selection.text()));
        }
        const Tally total = oracle.verdicts().total();
        if (options.strict && oracle.verdicts().of(Subject::dispatch).checked == 0) {
            context.err.print("remora check: no dispatch could be checked, and --must-decide was asked for\n");
            return trace::ExitStatus::damaged;
        }
        return worse(status_of("check", selection, trace, context),
                     total.violations == 0 ? trace::ExitStatus::clean : trace::ExitStatus::damaged);
    });
}

} // namespace

void add_check(CommandLine& line, Context context) {
    Command command =
        line.command("check", "compare every decision with the scheduling theory; exit status 2 on violation");
    const auto options = std::make_shared<CheckOptions>();
    options->input.options.whole_first = true; // it never accuses on damaged data
    add_trace_options(command, options->input, "--to-time,--to");
    command.described("TRACE").required(false); // --rules needs none
    command.flag("--json", options->input.json, "as JSON");
    command.flag("--rules", options->rules, "list the rules, what they say and where they come from");
    command.flag("--must-decide", options->strict, "fail if no dispatch could be checked");
    command.option("--show", options->shown, "so many violations in full; the others are counted").show_default();
    command.option(
        "--tolerance", options->tolerance,
        fmt::format("ticks by which what two stamps measure may differ from the kernel's own reckoning (default {} "
                    "instructions, more "
                    "where tasks ran in steps, if the clock counts instructions; else what stamps measure is not "
                    "judged)",
                    analyse::oracle::kToleranceTicks));
    command.footer(
        examples({"remora check out/udp", "remora check out/udp --task control --show 20", "remora check --rules"}));
    command.run([options, context] { return check(*options, context); });
}

} // namespace host::cli
