// SPDX-License-Identifier: MIT
// remora check: has the kernel decided as the scheduling theory requires, and does the trace fulfil a file of
// expectations? The exit status is 2 if not, and 8 if it does, but the run ended badly.
#include "host/analyse/oracle/oracle.hpp"
#include "host/cli/command/judge/judged_trace.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/expect/expectation.hpp"
#include "host/text/wrap.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

using analyse::oracle::kRules;
using analyse::oracle::kSubjectNames;
using analyse::oracle::Oracle;
using analyse::oracle::Order;
using analyse::oracle::RuleRow;
using analyse::oracle::Subject;
using analyse::oracle::Tally;
using analyse::oracle::Verdicts;

constexpr const char* kUndecided = "no dispatch could be checked, and --must-decide was asked for";

// This is the limit for one statement `sql` of a file of expectations.
constexpr double kStatementSecondsDefault = 60;

struct CheckOptions {
    TraceInput input;
    bool rules = false;
    bool strict = false;
    std::string policy; // empty: none
    std::optional<std::uint64_t> tolerance;
    std::uint64_t shown = 1;
    std::string junit;  // a file; empty: none
    std::string expect; // likewise
    OutcomesOf outcomes = nullptr;
    double timeout_s = kStatementSecondsDefault;
};

// Holds the expectations, and which of them the trace fulfils.
struct Fulfilled {
    std::vector<Expectation> expectations;
    std::vector<ExpectationOutcome> outcomes;
};

constexpr auto kOrders =
    std::to_array<Order>({Order::fifo, Order::rr, Order::fixed, Order::fixed_high, Order::rm, Order::edf});

std::optional<Order> order_of(std::string_view name) {
    const auto* const found = std::ranges::find_if(kOrders, [&](Order order) { return word(order) == name; });
    return found != kOrders.end() ? std::optional(*found) : std::nullopt;
}

std::string subjects_text(const Verdicts& verdicts) {
    std::string text;
    for (std::size_t i = 0; i < kSubjectNames.size(); ++i) {
        const Tally tally = verdicts.of(static_cast<Subject>(i));
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", tally.checked, kSubjectNames[i]);
    }
    return text;
}

// One line for each event that the kernel does not record, with the rules that need it.
void print_unhooked(Output& out, const Verdicts& verdicts) {
    std::map<std::string_view, std::vector<std::string_view>> rules;
    for (const RuleRow& row : kRules) {
        if (verdicts.unhooked(row.rule)) {
            rules[hook_of(row.rule)].push_back(row.name);
        }
    }
    for (const auto& [hook, names] : rules) {
        out.print("  {} no hook for {}: {}\n", out.styled(Style::warning, "not checked:"), hook,
                  fmt::join(names, ", "));
    }
}

void print_text(Output& out, const Oracle& oracle, const Verdict& trace, FindingReport& report) {
    report.print();
    const Verdicts& verdicts = oracle.verdicts();
    for (const RuleRow& row : kRules) {
        const Tally& tally = verdicts.of(row.rule);
        if ((tally.checked == 0 && tally.undecided == 0) || verdicts.unhooked(row.rule)) {
            continue;
        }
        const std::string undecided = tally.undecided != 0 ? fmt::format(", {} undecided", tally.undecided) : "";
        out.print("  {:<21} {} checked{}{}\n", row.name, tally.checked, out.styled(Style::dim, undecided),
                  tally.violations == 0 ? ""
                                        : ", " + out.styled(Style::bad, fmt::format("{} violation{}", tally.violations,
                                                                                    tally.violations == 1 ? "" : "s")));
    }
    print_unhooked(out, verdicts);
    FindingReport::print_relaxations(out, verdicts.relaxations());
    const Tally total = verdicts.total();
    if (!oracle.not_judged().empty()) {
        out.print("  {} {}\n", out.styled(Style::warning, "not judged:"), oracle.not_judged());
    }
    if (!trace.whole) {
        out.print("  {} {}\n", out.styled(Style::bad, "not judged:"),
                  "what the missing records would show; " + trace.text);
    }
    const bool decided = total.checked != 0 && oracle.not_judged().empty() && trace.whole;
    out.print("{} events; checked {}; {} undecided: {}\n", oracle.events(), subjects_text(verdicts), total.undecided,
              total.violations == 0
                  ? report.verdict(decided ? Style::good : Style::warning, total.checked == 0 ? "nothing was decided"
                                                                           : decided          ? "as the theory says"
                                                                                     : "only a part was judged")
                  : report.verdict(Style::bad, fmt::format("{} violations", total.violations)));
}

std::string found_text(const ExpectationOutcome& outcome) {
    return outcome.found.empty() ? "" : fmt::format("found {}", outcome.found);
}

void print_expectations(Output& out, const std::string& file, const Fulfilled& fulfilled) {
    std::size_t holding = 0;
    for (std::size_t i = 0; i < fulfilled.outcomes.size(); ++i) {
        const ExpectationOutcome& outcome = fulfilled.outcomes[i];
        const Expectation& expectation = fulfilled.expectations[i];
        holding += outcome.holds ? 1 : 0;
        if (!outcome.holds) {
            out.print("{}:{}: expected {}; {}\n", text::escaped(file), expectation.line, expectation.text,
                      out.styled(Style::bad, found_text(outcome)));
        }
    }
    if (!fulfilled.outcomes.empty()) {
        const bool all = holding == fulfilled.outcomes.size();
        out.print("{}\n", out.styled(all ? Style::good : Style::bad,
                                     fmt::format("{} of {} expectations hold", holding, fulfilled.outcomes.size())));
    }
}

void add_tally(text::JsonDocument& json, std::string_view name, const Tally& tally) {
    json.begin_object(name);
    json.member("checked", tally.checked);
    json.member("undecided", tally.undecided);
    json.member("violations", tally.violations);
    json.end_object();
}

void add_expectations(text::JsonDocument& json, const Fulfilled& fulfilled) {
    json.begin_array("expectations");
    for (std::size_t i = 0; i < fulfilled.outcomes.size(); ++i) {
        json.begin_object();
        json.member("line", fulfilled.expectations[i].line);
        json.member("expected", fulfilled.expectations[i].text);
        json.member("holds", fulfilled.outcomes[i].holds);
        json.member("found", fulfilled.outcomes[i].found);
        json.end_object();
    }
    json.end_array();
}

void print_json(Output& out, const Oracle& oracle, const Verdict& trace, const Fulfilled& fulfilled,
                FindingReport& report) {
    const Verdicts& verdicts = oracle.verdicts();
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("events", oracle.events());
    json.member("holds", verdicts.total().violations == 0);
    json.member("complete", trace.whole);
    json.member("verdict", trace.text);
    json.member("tolerance_ticks", oracle.timing().tolerance);
    json.member("stamps_judged", oracle.timing().judged);
    add_tally(json, "total", verdicts.total());
    json.begin_object("subjects");
    for (std::size_t i = 0; i < kSubjectNames.size(); ++i) {
        add_tally(json, kSubjectNames[i], verdicts.of(static_cast<Subject>(i)));
    }
    json.end_object();
    json.begin_object("rules");
    for (const RuleRow& row : kRules) {
        add_tally(json, row.name, verdicts.of(row.rule));
    }
    json.end_object();
    if (verdicts.hooks().stated()) {
        json.begin_object("no_hook");
        for (const RuleRow& row : kRules) {
            if (verdicts.unhooked(row.rule)) {
                json.member(row.name, hook_of(row.rule));
            }
        }
        json.end_object();
    }
    add_expectations(json, fulfilled);
    report.end(json, verdicts.relaxations());
}

void print_rules_json(Output& out) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.objects("rules", kRules, [&](const RuleRow& row) {
        json.member("rule", row.name);
        json.member("subject", kSubjectNames[static_cast<std::size_t>(row.subject)]);
        json.member("meaning", row.meaning);
        json.member("source", row.source);
    });
    json.end_object();
    json.blank("\n");
}

void print_rules(Output& out) {
    for (const RuleRow& row : kRules) {
        const std::string text = text::wrapped(fmt::format("{:<21}  {} [{}]", row.name, row.meaning, row.source));
        out.print("{}{}\n", out.styled(Style::strong, row.name), text.substr(row.name.size()));
    }
}

std::string undecided_text(const Tally& tally) {
    return tally.checked != 0     ? ""
           : tally.undecided != 0 ? fmt::format("nothing was decided, {} undecided", tally.undecided)
                                  : "the trace has nothing that the rule is about";
}

void add_cases(JunitReport& junit, const Verdicts& verdicts, const Fulfilled& fulfilled) {
    for (const RuleRow& row : kRules) {
        const Tally& tally = verdicts.of(row.rule);
        junit.add_rule(kSubjectNames[static_cast<std::size_t>(row.subject)], row.name, tally.violations,
                       undecided_text(tally));
    }
    for (std::size_t i = 0; i < fulfilled.outcomes.size(); ++i) {
        const ExpectationOutcome& outcome = fulfilled.outcomes[i];
        const Expectation& expectation = fulfilled.expectations[i];
        // The names of cases must differ, because programs that read the report keep one case of each name.
        const bool again = std::ranges::count(fulfilled.expectations, expectation.text, &Expectation::text) > 1;
        junit.add({.group = "expectations",
                   .name = again ? fmt::format("{} (line {})", expectation.text, expectation.line) : expectation.text,
                   .outcome = outcome.holds     ? JunitReport::Outcome::passed
                              : outcome.invalid ? JunitReport::Outcome::error
                                                : JunitReport::Outcome::failed,
                   .message = found_text(outcome)});
    }
}

// Reads the trace to its end.
void judge_all(formats::Trace& trace, Selection& selection, FindingReport& report, Oracle& oracle) {
    for (auto batch = trace.next_batch(); !batch.empty(); batch = trace.next_batch()) {
        selection.take_note(batch);
        for (const trace::Event& event : batch) {
            report.take(event);
            oracle.add(event, trace.facts());
        }
    }
    oracle.finish(trace.facts());
    report.finish();
}

// Judges the trace by the rules and by the expectations, and prints the result.
trace::ExitStatus judge(const CheckOptions& options, Fulfilled& fulfilled, Context context, formats::Trace& trace,
                        JunitReport& junit) {
    FindingReport report(context.out, trace, FindingReport::Subject::decisions, options.input.json);
    Selection selection(options.input.selection);
    // Shows the first violations of the selected part; all of the trace are counted.
    const auto show = [&, shown = std::uint64_t{0}](const analyse::oracle::Finding& finding) mutable {
        const RuleRow& row = row_of(finding.rule);
        const std::string text = text::escaped(finding.text);
        const FindingReport::Finding found{
            .rule = row.name, .source = row.source, .event = finding.event, .task = finding.task, .text = text};
        if (junit.wanted()) {
            junit.note(row.name, report.sentence(found));
        }
        if (!junit.on_standard_output() && selection.is_about(*finding.event, finding.task) &&
            shown++ < options.shown) {
            report.show(found);
        }
    };
    Oracle oracle(show, options.tolerance, order_of(options.policy));
    judge_all(trace, selection, report, oracle);
    const Verdicts& verdicts = oracle.verdicts();
    auto status = verdicts.total().violations != 0 ? trace::ExitStatus::damaged
                  : oracle.not_judged().empty()    ? trace::ExitStatus::clean
                                                   : kAccountOpen;
    const Verdict verdict = verdict_of(trace, accounts_of(trace));
    status = worse(status, verdict.whole ? trace::ExitStatus::clean : trace::ExitStatus::damaged);
    if (!fulfilled.expectations.empty()) {
        const auto limit = duration(options.timeout_s).value_or(std::chrono::milliseconds(0));
        OutcomesOfTrace asked = options.outcomes(
            fulfilled.expectations, {.path = options.input.path, .open = options.input.options, .limit = limit},
            {verdicts, verdict.lossless ? trace::filters_text(oracle.filtered()) : verdict.text});
        fulfilled.outcomes = std::move(asked.outcomes);
        status = worse(status, asked.status);
    }
    add_cases(junit, verdicts, fulfilled);
    junit.add({.group = "trace",
               .name = "complete",
               .outcome = verdict.whole ? JunitReport::Outcome::passed : JunitReport::Outcome::error,
               .message = verdict.whole ? "" : verdict.text});
    status = worse(status, junit.add_end(report.crashes()));
    if (options.input.json) {
        print_json(context.out, oracle, verdict, fulfilled, report);
    } else if (!junit.on_standard_output()) {
        print_text(context.out, oracle, verdict, report);
        print_expectations(context.out, options.expect, fulfilled);
        if (!selection.everything()) {
            context.out.print("  shown      the violations of {}; the numbers are of the whole trace\n",
                              text::escaped(selection.text()));
        }
    }
    if (options.strict && verdicts.of(Subject::dispatch).checked == 0) {
        context.err.print("remora check: {}\n", kUndecided);
        junit.add({.group = kSubjectNames.front(),
                   .name = "must-decide",
                   .outcome = JunitReport::Outcome::failed,
                   .message = kUndecided});
        status = worse(status, trace::ExitStatus::damaged);
    }
    return worse(status, status_of("check", selection, trace, context));
}

// Returns what is wrong with the file, in lines; empty: the expectations were read.
std::vector<std::string> read_expectations(const CheckOptions& options, std::vector<Expectation>& expectations) {
    const std::string file = text::escaped(options.expect);
    if (trace::ByteSource::is_stream(options.input.path)) {
        return {"remora check: --expect reads TRACE twice: name a file or a session, no pipe"};
    }
    std::ifstream stream(options.expect, std::ios::binary);
    std::ostringstream content;
    if (!(content << stream.rdbuf())) { // this also fails for an empty file
        return {fmt::format("remora check: --expect {}: the file is empty or cannot be read", file)};
    }
    Expectations parsed = parse_expectations(content.str());
    std::vector<std::string> errors;
    for (const std::string& error : parsed.errors) {
        errors.push_back(fmt::format("{}:{}", file, error));
    }
    if (!errors.empty()) {
        errors.push_back(
            fmt::format("remora check: {} has no valid expectations; docs/ci.md has what a line can say", file));
    }
    expectations = std::move(parsed.list);
    return errors;
}

// Refuses the expectations. The report has only this error, so that a file of an earlier run is not taken for the
// result of this one.
trace::ExitStatus refuse(std::span<const std::string> errors, JunitReport junit, Context context) {
    for (const std::string& error : errors) {
        context.err.print("{}\n", error);
    }
    junit.add({.group = "expectations",
               .name = "valid",
               .outcome = JunitReport::Outcome::error,
               .message = errors.front(),
               .text = fmt::format("{}\n", fmt::join(errors, "\n"))});
    return worse(trace::ExitStatus::usage, junit.store(context));
}

trace::ExitStatus check(CheckOptions& options, Context context) {
    context.out.page();
    if (options.rules) {
        options.input.json ? print_rules_json(context.out) : print_rules(context.out);
        return trace::ExitStatus::clean;
    }
    if (options.input.path.empty()) {
        options.input.path = trace_of_last_run();
    }
    if (options.input.path.empty()) {
        context.err.print("remora check: TRACE is missing: name a session directory, a .dat file, or -\n");
        return trace::ExitStatus::usage;
    }
    Fulfilled fulfilled;
    JunitReport report(options.junit, "check", options.input.path);
    if (!options.expect.empty()) {
        const std::vector<std::string> errors = read_expectations(options, fulfilled.expectations);
        if (!errors.empty()) {
            return refuse(errors, std::move(report), context);
        }
    }
    return with_judged_trace(
        options.input, context, "check", std::move(report),
        [&](formats::Trace& trace, JunitReport& junit) { return judge(options, fulfilled, context, trace, junit); });
}

} // namespace

void add_check(CommandLine& line, Context context, OutcomesOf outcomes) {
    Command command = line.command(
        "check", "compare every decision with the scheduling theory; exit status 2 on violation, and if an "
                 "expectation does not hold, 8 if the run ended badly");
    const auto options = std::make_shared<CheckOptions>();
    options->outcomes = outcomes;
    options->input.options.whole_first = true; // damaged data must not cause reports of violations
    add_trace_options(command, options->input, "--to-time,--to");
    command.described("TRACE").required(false); // --rules needs no trace
    command.flag("--json", options->input.json, "as JSON");
    command.flag("--rules", options->rules, "list the rules, what they say and where they come from");
    add_junit_option(command, options->junit);
    command
        .option("--expect", options->expect,
                "a file with what is expected of the trace, such as `worst sensor response <= 3ms`: see docs/ci.md")
        .check([](const std::string& text) { return text.empty() ? "must be the name of a file" : ""; });
    command
        .option("--timeout", options->timeout_s,
                "end each statement `sql` of an expectation after so many seconds, with exit status 5")
        .show_default()
        .check(check_seconds);
    command
        .option("--policy", options->policy,
                "judge each choice by this order as well: fifo, rr, fixed (lowest number of the level first), "
                "fixed-high (highest), rm "
                "(shortest period), edf")
        .check([](const std::string& text) {
            return order_of(text) ? "" : "must be fifo, rr, fixed, fixed-high, rm or edf";
        });
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
        examples({"remora check out/udp", "remora check out/udp --task control --show 20",
                  "remora check out/udp --expect control.expect --junit check.xml", "remora check --rules"}));
    command.run([options, context] { return check(*options, context); });
}

} // namespace host::cli
