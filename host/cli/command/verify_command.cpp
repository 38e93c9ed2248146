// SPDX-License-Identifier: MIT
// remora verify: does the structure of the trace hold? Exit status 2 on any violation.
#include "host/analyse/manifest_check.hpp"
#include "host/analyse/structure_check.hpp"
#include "host/cli/command/finding_report.hpp"

#include <array>
#include <memory>

namespace host::cli {

namespace {

using analyse::Violation;

constexpr std::uint64_t kViolationsShown = 100; // per rule

void check_files(const formats::Trace& trace, analyse::StructureCheck& check) {
    for (const analyse::ManifestFault& fault : analyse::manifest_faults(trace)) {
        check.violate(
            Violation{.rule = fault.rule, .event = nullptr, .file = fault.file, .task = {}, .text = fault.text});
    }
}

void print_text(Output& out, const analyse::StructureCheck& check) {
    for (const analyse::RuleRow& row : analyse::kRules) {
        const std::uint64_t count = check.violations(row.rule);
        out.print("  {:<26} {}\n", row.name,
                  count == 0 ? out.styled(Style::good, "ok")
                             : out.styled(Style::bad, fmt::format("{} violation{}", count, count == 1 ? "" : "s")));
    }
    FindingReport::print_relaxations(out, check.relaxations());
    out.print("{} events checked: {}\n", check.events(),
              check.violations() == 0 ? out.styled(Style::good, "the structure holds")
                                      : out.styled(Style::bad, fmt::format("{} violations", check.violations())));
}

void print_json(Output& out, const analyse::StructureCheck& check, FindingReport& report) {
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
    report.end(json, check.relaxations());
}

trace::ExitStatus verify(const TraceInput& input, Context context) {
    return with_trace(input, context, "verifying", [&](formats::Trace& trace) {
        FindingReport report(context.out, trace, FindingReport::Subject::structure, input.json);
        std::array<std::uint64_t, analyse::kRules.size()> shown{};
        analyse::StructureCheck check([&](const Violation& violation) {
            if (++shown[static_cast<std::size_t>(violation.rule)] <= kViolationsShown) {
                report.show({.rule = analyse::rule_name(violation.rule),
                             .event = violation.event,
                             .file = violation.file,
                             .task = violation.task,
                             .text = violation.text});
            }
        });
        trace::Event event;
        while (trace.next(event)) {
            check.add(event, trace.facts());
        }
        check.finish(trace.facts());
        check_files(trace, check);
        input.json ? print_json(context.out, check, report) : print_text(context.out, check);
        return check.violations() == 0 ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    });
}

} // namespace

void add_verify(CommandLine& line, Context context) {
    Command command = line.command("verify", "check the structure of a trace; exit status 2 on violation");
    const auto input = std::make_shared<TraceInput>();
    add_trace_options(command, *input);
    command.flag("--json", input->json, "as JSON");
    command.run([input, context] { return verify(*input, context); });
    std::string rules = "Rules:\n";
    for (const analyse::RuleRow& row : analyse::kRules) {
        rules += fmt::format("  {:<26} {}\n", row.name, row.meaning);
    }
    command.footer(rules + examples({"remora verify out/udp", "remora verify out/udp --json"}));
}

} // namespace host::cli
