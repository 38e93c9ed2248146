// SPDX-License-Identifier: MIT
// remora verify: does the structure of the trace hold? Exit status 2 on any violation.
#include "host/analyse/manifest_check.hpp"
#include "host/analyse/structure_check.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/json_version.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <memory>

namespace host::cli {

namespace {

using analyse::Violation;

constexpr std::uint64_t kViolationsShown = 100; // per rule

struct VerifyOptions {
    TraceInput input;
    bool json = false;
};

std::string task_text(const trace::Event& event, std::uint16_t context) {
    const std::string_view name = event.names->find(tracer::Unit::context, context);
    return name.empty() ? fmt::format("context {}", context)
                        : fmt::format("context {} ({})", context, text::escaped(name));
}

// Shows violations as they are found, the first hundred of each rule.
class Report {
  public:
    Report(Output& out, const formats::Trace& trace, bool json)
        : m_out(out)
        , m_trace(trace)
        , m_as_json(json) {
        m_json.begin_array();
    }

    void show(const Violation& violation) {
        if (++m_shown[static_cast<std::size_t>(violation.rule)] > kViolationsShown) {
            return;
        }
        if (m_as_json) {
            add_json(violation);
            return;
        }
        const std::string rule = m_out.styled(Style::bad, analyse::rule_name(violation.rule));
        if (violation.event == nullptr) {
            m_out.print("{}  {}: {}\n", rule, text::escaped(violation.file), violation.text);
            return;
        }
        const trace::Event& event = *violation.event;
        m_out.print("{}  {} record {}  {} {}  cpu{}{}: {}\n", rule,
                    text::escaped(m_trace.facts().chunks[event.source].file), event.record,
                    event.timed ? fmt::format("{}", event.time_ns) : fmt::format("{}", event.ticks.value),
                    event.timed ? "ns" : "ticks", event.cpu,
                    violation.task ? "  " + task_text(event, *violation.task) : "", violation.text);
    }

    // All violations shown, as a JSON array. Called once.
    [[nodiscard]] std::string_view json() {
        m_json.end_array();
        return {m_violations.data(), m_violations.size()};
    }

  private:
    void add_json(const Violation& violation) {
        const trace::Event* const event = violation.event;
        m_json.begin_object();
        m_json.member("rule", analyse::rule_name(violation.rule));
        m_json.member("file",
                      text::escaped(event != nullptr ? m_trace.facts().chunks[event->source].file : violation.file));
        if (event != nullptr) {
            m_json.member("record", event->record);
            m_json.member("time_ns", event->timed ? std::optional(event->time_ns) : std::nullopt);
            m_json.member("ticks", event->ticks.value);
            m_json.member("cpu", event->cpu);
        }
        m_json.member("task", violation.task);
        m_json.member("text", violation.text);
        m_json.end_object();
    }

    Output& m_out;
    const formats::Trace& m_trace;
    bool m_as_json;
    std::array<std::uint64_t, analyse::kRules.size()> m_shown{};
    fmt::memory_buffer m_violations;
    text::JsonDocument m_json{m_violations, 1};
};

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
    for (const std::string& relaxation : check.relaxations()) {
        out.print("  {} {}\n", out.styled(Style::warning, "relaxed:"), text::escaped(relaxation));
    }
    out.print("{} events checked: {}\n", check.events(),
              check.violations() == 0 ? out.styled(Style::good, "the structure holds")
                                      : out.styled(Style::bad, fmt::format("{} violations", check.violations())));
}

void print_json(Output& out, const analyse::StructureCheck& check, Report& report) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("events", check.events());
    json.member("holds", check.violations() == 0);
    json.key("rules");
    json.begin_object();
    for (const analyse::RuleRow& row : analyse::kRules) {
        json.member(row.name, check.violations(row.rule));
    }
    json.end_object();
    json.key("relaxed");
    json.begin_array();
    for (const std::string& relaxation : check.relaxations()) {
        json.value(text::escaped(relaxation));
    }
    json.end_array();
    json.key("violations");
    json.plain(report.json());
    json.end_object();
    json.blank("\n");
}

trace::ExitStatus verify(const VerifyOptions& options, Context context) {
    return with_trace(options.input, context, [&](formats::Trace& trace) {
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
