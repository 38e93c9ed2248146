// SPDX-License-Identifier: MIT
// remora verify: is the structure of the trace valid, and does its account close? The exit status is 2 on any
// violation; if there is none, 8 if the run ended badly, and 6 if the account remains open.
#include "host/analyse/account.hpp"
#include "host/analyse/structure_check.hpp"
#include "host/analyse/time_check.hpp"
#include "host/cli/command/judge/judged_trace.hpp"
#include "host/schedule/pass.hpp"
#include "host/text/wrap.hpp"

#include <array>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

using analyse::Violation;

constexpr std::uint64_t kViolationsPerRule = 100; // per rule

// This text follows the reason why the account is open.
constexpr const char* kOpenRemedy =
    ", so whether every record is here is not known\n"
    "  remedy: verify a session of `remora record`, a capture of the whole export, or a ramdisk with its endtrace.dat";

void check_files(const formats::Trace& trace, analyse::StructureCheck& check) {
    for (const analyse::ManifestFault& fault : analyse::manifest_faults(trace)) {
        check.violate(
            Violation{.rule = fault.rule, .event = nullptr, .file = fault.file, .task = {}, .text = fault.text});
    }
}

analyse::Rule rule_of(analyse::TimeFault::Kind kind) {
    return kind == analyse::TimeFault::Kind::residue ? analyse::Rule::residue : analyse::Rule::utilisation;
}

struct VerifyInput {
    TraceInput trace;
    std::string capture; // empty: none
    std::string junit;   // a file; empty: none
};

// Reads the machine's packets as another receiver saw them. Returns false if they cannot be read.
bool add_capture(const std::string& path, Context context, const formats::Trace& trace, analyse::Account& account) {
    trace::Diagnostics diagnostics(diagnostics_to(context));
    const auto capture = formats::Trace::open(path, {.kind = trace::InputKind::capture}, diagnostics);
    if (!capture) {
        return false;
    }
    capture.value()->for_each([](const trace::Event&) {});
    diagnostics.finish();
    analyse::compare_capture(account, trace.facts(), capture.value()->facts(), diagnostics.damages());
    return true;
}

void check_account(const analyse::Account& account, const std::string& path, analyse::StructureCheck& check) {
    for (const std::string& fault : account.faults) {
        check.violate({.rule = analyse::Rule::account, .event = nullptr, .file = path, .task = {}, .text = fault});
    }
    if (account.unknown) {
        check.relax(fmt::format("the account stays open: {}", *account.unknown));
    }
}

void print_account(Output& out, const analyse::Account& account) {
    out.print("account\n");
    for (const analyse::ProcessorAccount& of : account.processors) {
        out.print("{}\n", text::wrapped(fmt::format("  {:<12} {} records in {} chunks, {} with the machine's checksum; "
                                                    "dropped {}, refused {}, overwritten {}",
                                                    fmt::format("cpu{}", of.cpu), of.events, of.chunks, of.sealed,
                                                    of.dropped, of.refused, of.overwritten)));
    }
    if (account.totals && account.totals->committed != 0) {
        const tracer::ExportEnd& totals = *account.totals;
        out.print("{}\n",
                  text::wrapped(fmt::format("  {:<12} {} attempts = {} committed + {} dropped + {} refused; {} "
                                            "records more by the tracer",
                                            "machine", totals.committed + totals.dropped + totals.refused,
                                            totals.committed, totals.dropped, totals.refused, totals.tracer_made)));
    }
    if (account.totals) {
        out.print("  {:<12} {} sent{}, {} stored\n", "transfer", account.totals->records,
                  account.received ? fmt::format(", {} received", *account.received) : "", account.stored);
    }
    if (account.captured_chunks) {
        out.print("  {:<12} {} chunks are the same in it\n", "capture", *account.captured_chunks);
    }
    const std::string end = account.closes()    ? "closed: every record is here, or counted"
                            : account.is_open() ? fmt::format("open: {}{}", *account.unknown, kOpenRemedy)
                                                : fmt::format("does not close: {}", account.faults.front());
    out.print("{}\n", out.styled(account.closes()    ? Style::good
                                 : account.is_open() ? Style::warning
                                                     : Style::bad,
                                 text::wrapped("  " + end)));
}

void print_text(Output& out, const analyse::StructureCheck& check, const FindingReport& report) {
    for (const analyse::RuleRow& row : analyse::kRules) {
        const std::uint64_t count = check.violations(row.rule);
        out.print("  {:<26} {}\n", row.name,
                  count == 0 ? out.styled(Style::good, "ok")
                             : out.styled(Style::bad, fmt::format("{} violation{}", count, count == 1 ? "" : "s")));
    }
    FindingReport::print_relaxations(out, check.relaxations());
    out.print("{} events checked: {}\n", check.events(),
              check.violations() == 0 ? report.verdict(Style::good, "the structure holds")
                                      : report.verdict(Style::bad, fmt::format("{} violations", check.violations())));
}

void write_account(text::JsonDocument& json, const analyse::Account& account) {
    json.begin_object("account");
    json.member("closes", account.closes());
    json.member("open", account.is_open() ? account.unknown : std::nullopt);
    json.member("stored", account.stored);
    if (account.received) {
        json.member("received", *account.received);
    }
    if (account.totals) {
        json.member("sent", account.totals->records);
        json.member("committed", account.totals->committed);
        json.member("dropped", account.totals->dropped);
        json.member("refused", account.totals->refused);
        json.member("overwritten", account.totals->overwritten);
    }
    json.objects("processors", account.processors, [&](const analyse::ProcessorAccount& of) {
        json.member("cpu", of.cpu);
        json.member("chunks", of.chunks);
        json.member("sealed", of.sealed);
        json.member("records", of.events);
        json.member("dropped", of.dropped);
        json.member("refused", of.refused);
        json.member("overwritten", of.overwritten);
    });
    json.end_object();
}

void print_json(Output& out, const analyse::StructureCheck& check, const analyse::Account& account,
                FindingReport& report) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("events", check.events());
    json.member("holds", check.violations() == 0);
    json.begin_object("rules");
    for (const analyse::RuleRow& row : analyse::kRules) {
        json.member(row.name, check.violations(row.rule));
    }
    json.end_object();
    write_account(json, account);
    report.end(json, check.relaxations());
}

void add_cases(JunitReport& junit, const analyse::StructureCheck& check, const analyse::Account& account) {
    for (const analyse::RuleRow& row : analyse::kRules) {
        const bool open = row.rule == analyse::Rule::account && account.is_open();
        junit.add_rule("structure", row.name, check.violations(row.rule),
                       open ? fmt::format("the account stays open: {}", *account.unknown) : "");
    }
}

trace::ExitStatus judge(const VerifyInput& input, Context context, formats::Trace& trace, JunitReport& junit) {
    FindingReport report(context.out, trace, FindingReport::Subject::structure, input.trace.json);
    std::array<std::uint64_t, analyse::kRules.size()> shown{};
    analyse::StructureCheck check([&](const Violation& violation) {
        const FindingReport::Finding found{.rule = analyse::rule_name(violation.rule),
                                           .event = violation.event,
                                           .file = violation.file,
                                           .task = violation.task,
                                           .text = violation.text};
        if (++shown[static_cast<std::size_t>(violation.rule)] <= kViolationsPerRule && !junit.on_standard_output()) {
            report.show(found);
        }
        if (junit.wanted()) {
            junit.note(found.rule, report.sentence(found));
        }
    });
    analyse::TimeCheck times([&](const analyse::TimeFault& fault) {
        check.violate({.rule = rule_of(fault.kind),
                       .event = fault.event,
                       .file = input.trace.path,
                       .task = fault.task,
                       .text = fault.text});
    });
    std::optional<schedule::Pass> pass;
    pass.emplace([&](const schedule::JobAccount& account) { times.add(account, *pass->accounting().event()); });
    trace.for_each([&](const trace::Event& event) {
        report.take(event);
        times.add(event);
        check.add(event, trace.facts(), pass->schedule());
        pass->take(event, trace.facts().clock.khz);
    });
    check.finish(trace.facts());
    times.finish();
    report.finish();
    check_files(trace, check);
    analyse::Account account = analyse::account_of(trace);
    if (!input.capture.empty() && !add_capture(input.capture, context, trace, account)) {
        return trace::ExitStatus::usage;
    }
    check_account(account, input.trace.path, check);
    add_cases(junit, check, account);
    const trace::ExitStatus end = junit.add_end(report.crashes());
    if (input.trace.json) {
        print_json(context.out, check, account, report);
    } else if (!junit.on_standard_output()) {
        report.print();
        print_account(context.out, account);
        print_text(context.out, check, report);
    }
    return worse(end, check.violations() != 0 ? trace::ExitStatus::damaged
                      : account.closes()      ? trace::ExitStatus::clean
                                              : kAccountOpen);
}

trace::ExitStatus verify(const VerifyInput& input, Context context) {
    return with_judged_trace(
        input.trace, context, "verify", JunitReport(input.junit, "verify", input.trace.path),
        [&](formats::Trace& trace, JunitReport& junit) { return judge(input, context, trace, junit); });
}

} // namespace

void add_verify(CommandLine& line, Context context) {
    Command command = line.command("verify", "check the structure of a trace and the account of its records; exit "
                                             "status 2 on violation, 6 if it stays open, 8 if the run ended badly");
    const auto input = std::make_shared<VerifyInput>();
    input->trace.options.whole_first = true;
    add_trace_options(command, input->trace);
    command.flag("--json", input->trace.json, "as JSON");
    add_junit_option(command, input->junit);
    command.option("--capture", input->capture,
                   "a capture of the same export by another receiver (pcap, pcapng): its chunks must be the same");
    command.run([input, context] { return verify(*input, context); });
    std::string rules = "Rules:\n";
    for (const analyse::RuleRow& row : analyse::kRules) {
        rules += fmt::format("  {:<26} {}\n", row.name, row.meaning);
    }
    command.footer(
        rules + examples({"remora verify out/udp", "remora verify out/udp --json",
                          "remora verify out/udp --capture out/net.pcap", "remora verify out/udp --junit verify.xml"}));
}

} // namespace host::cli
