// SPDX-License-Identifier: MIT
// remora verify: does the structure of the trace hold? Exit status 2 on any violation.
#include "host/analyse/manifest_check.hpp"
#include "host/analyse/structure_check.hpp"
#include "host/cli/event_text.hpp"
#include "host/cli/json_version.hpp"
#include "host/cli/trace_input.hpp"
#include "host/trace/escape.hpp"
#include "host/trace/json.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <memory>

namespace host::cli {

namespace {

using analyse::Violation;
using trace::Json;

constexpr std::uint64_t kViolationsShown = 100; // per rule

struct VerifyOptions {
    TraceInput input;
    bool json = false;
};

std::string task_text(const trace::Event& event, std::uint16_t context) {
    const std::string_view name = event.names->find(tracer::Unit::context, context);
    return name.empty() ? fmt::format("context {}", context)
                        : fmt::format("context {} ({})", context, trace::escaped(name));
}

// Shows violations as they are found, the first hundred of each rule.
class Report {
  public:
    Report(Output& out, const trace::Trace& trace, bool json)
        : m_out(out)
        , m_trace(trace)
        , m_json(json) {}

    void show(const Violation& violation) {
        if (++m_shown[static_cast<std::size_t>(violation.rule)] > kViolationsShown) {
            return;
        }
        if (m_json) {
            add_json(violation);
            return;
        }
        const std::string rule = m_out.styled(Style::bad, analyse::rule_name(violation.rule));
        if (violation.event == nullptr) {
            m_out.print("{}  {}: {}\n", rule, trace::escaped(violation.file), violation.text);
            return;
        }
        const trace::Event& event = *violation.event;
        m_out.print("{}  {} record {}  {} {}  cpu{}{}: {}\n", rule,
                    trace::escaped(m_trace.facts().chunks[event.source].file), event.record,
                    event.timed ? fmt::format("{}", event.time_ns) : fmt::format("{}", event.ticks.value),
                    event.timed ? "ns" : "ticks", event.cpu,
                    violation.task ? "  " + task_text(event, *violation.task) : "", violation.text);
    }

    [[nodiscard]] const Json& json() const { return m_violations; }

  private:
    void add_json(const Violation& violation) {
        Json json;
        json["rule"] = analyse::rule_name(violation.rule);
        json["file"] = trace::escaped(violation.event != nullptr ? m_trace.facts().chunks[violation.event->source].file
                                                                 : violation.file);
        if (violation.event != nullptr) {
            json["record"] = violation.event->record;
            json["time_ns"] = violation.event->timed ? Json(violation.event->time_ns) : Json();
            json["ticks"] = violation.event->ticks.value;
            json["cpu"] = violation.event->cpu;
        }
        json["task"] = violation.task ? Json(*violation.task) : Json();
        json["text"] = violation.text;
        m_violations.push_back(std::move(json));
    }

    Output& m_out;
    const trace::Trace& m_trace;
    bool m_json;
    std::array<std::uint64_t, analyse::kRules.size()> m_shown{};
    Json m_violations = Json::array();
};

void check_files(const trace::Trace& trace, analyse::StructureCheck& check) {
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
    for (const std::string& relaxation : check.relaxations()) {
        out.print("  {} {}\n", out.styled(Style::warning, "relaxed:"), trace::escaped(relaxation));
    }
    out.print("{} events checked: {}\n", check.events(),
              check.violations() == 0 ? out.styled(Style::good, "the structure holds")
                                      : out.styled(Style::bad, fmt::format("{} violations", check.violations())));
}

void print_json(Output& out, const analyse::StructureCheck& check, const Report& report) {
    Json json;
    json["version"] = kJsonVersion;
    json["events"] = check.events();
    json["holds"] = check.violations() == 0;
    for (const analyse::RuleRow& row : analyse::kRules) {
        json["rules"][std::string(row.name)] = check.violations(row.rule);
    }
    json["relaxed"] = Json::array();
    for (const std::string& relaxation : check.relaxations()) {
        json["relaxed"].push_back(trace::escaped(relaxation));
    }
    json["violations"] = report.json();
    out.print("{}\n", json.dump(2));
}

trace::ExitStatus verify(const VerifyOptions& options, Context context) {
    return with_trace(options.input, context, [&](trace::Trace& trace) {
        Report report(context.out, trace, options.json);
        analyse::StructureCheck check([&report](const Violation& violation) { report.show(violation); });
        trace::Event event;
        while (trace.next(event)) {
            check.add(event, trace.facts());
        }
        check.finish(trace.facts());
        check_files(trace, check);
        options.json ? print_json(context.out, check, report) : print_text(context.out, check);
        return check.violations() == 0 ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    });
}

} // namespace

void add_verify(CommandLine& line, Context context) {
    Command command = line.command("verify", "check the structure of a trace; exit status 2 on violation");
    const auto options = std::make_shared<VerifyOptions>();
    add_trace_options(command, options->input);
    command.flag("--json", options->json, "as JSON");
    command.run([options, context] { return verify(*options, context); });
    std::string rules = "Rules:\n";
    for (const analyse::RuleRow& row : analyse::kRules) {
        rules += fmt::format("  {:<26} {}\n", row.name, row.meaning);
    }
    command.footer(rules + examples({"remora verify out/udp", "remora verify out/udp --json"}));
}

} // namespace host::cli
