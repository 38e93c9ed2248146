// SPDX-License-Identifier: MIT
// Has what the commands that judge a trace share: --junit, the report of violations, and an exit status that both the
// reading of the trace and the judgement determine.
#pragma once

#include "host/cli/command/trace_input.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::cli {

// Prints what the commands that judge a trace have in common: how the run ended badly, the violations that were found,
// what was relaxed, and the end of their JSON documents.
class FindingReport {
  public:
    enum class Subject : std::uint8_t {
        structure, // findings name the processor
        decisions, // they name the event and the source of the rule
    };

    FindingReport(Output& out, const formats::Trace& trace, Subject subject, bool json)
        : m_out(out)
        , m_trace(trace)
        , m_decisions(subject == Subject::decisions)
        , m_as_json(json) {
        if (json) {
            m_json.begin_array();
        }
    }

    struct Finding {
        std::string_view rule;
        std::string_view source{}; // of the rule
        const trace::Event* event; // null: the finding is about the whole file
        std::string_view file{};   // if there is no event
        std::optional<std::uint16_t> task;
        std::string_view text; // printable
    };

    // Must be called for every event, in time order.
    void take(const trace::Event& event) { m_ends.take(event); }

    // Keeps the finding until it is known how the run ended, which is said first.
    void show(const Finding& finding) {
        if (m_as_json) {
            add_json(finding);
        } else {
            fmt::format_to(std::back_inserter(m_findings), "{}  {}\n", m_out.styled(Style::bad, finding.rule),
                           sentence(finding));
        }
    }

    // Finds out how the run ended. Must be called once, after the last event.
    void finish() { m_crashes = crashes_in(m_ends, m_trace); }

    [[nodiscard]] const std::vector<analyse::Crash>& crashes() const { return m_crashes; }

    // Prints how the run ended badly, and the findings.
    void print() {
        print_crashes(m_out, m_crashes);
        m_out.write({m_findings.data(), m_findings.size()});
    }

    // Returns the last words of a command: its verdict, and that the run ended badly, if it did.
    [[nodiscard]] std::string verdict(Style style, std::string_view text) const {
        return ended_badly(m_crashes) ? m_out.styled(Style::bad, fmt::format("{}; but the run ended badly", text))
                                      : m_out.styled(style, text);
    }

    // Returns the finding in one line, without the rule.
    [[nodiscard]] std::string sentence(const Finding& finding) const {
        const trace::Event* const event = finding.event;
        if (event == nullptr) {
            return fmt::format("{}: {}", file_of(finding), finding.text);
        }
        return fmt::format("{} record {}  {} {}  {}{}: {}", file_of(finding), event->record,
                           event->timed ? fmt::format("{}", event->time_ns) : fmt::format("{}", event->ticks.value),
                           event->timed ? "ns" : "ticks",
                           m_decisions ? std::string(event->row->name) : fmt::format("cpu{}", event->cpu),
                           finding.task ? "  " + task_text(*event, *finding.task) : "", finding.text);
    }

    static void print_relaxations(Output& out, std::span<const std::string> relaxations) {
        for (const std::string& relaxation : relaxations) {
            out.print("  {} {}\n", out.styled(Style::warning, "relaxed:"), text::escaped(relaxation));
        }
    }

    // Writes the last members of the command's document, and its end. Must be called once.
    void end(text::JsonDocument& document, std::span<const std::string> relaxations) {
        document.begin_array("relaxed");
        for (const std::string& relaxation : relaxations) {
            document.value(text::escaped(relaxation));
        }
        document.end_array();
        document.array("crashes", m_crashes, [&](const analyse::Crash& crash) { write_json(document, crash); });
        m_json.end_array();
        document.key("violations");
        document.plain({m_findings.data(), m_findings.size()});
        document.end_object();
        document.blank("\n");
    }

  private:
    [[nodiscard]] std::string file_of(const Finding& finding) const {
        return text::escaped(finding.event != nullptr ? m_trace.facts().chunks[finding.event->source].file
                                                      : finding.file);
    }

    [[nodiscard]] std::string task_text(const trace::Event& event, std::uint16_t context) const {
        const std::string name = text::escaped(event.names->find(tracer::Unit::context, context));
        return name.empty()  ? fmt::format("context {}", context)
               : m_decisions ? fmt::format("{} ({})", name, context)
                             : fmt::format("context {} ({})", context, name);
    }

    void add_json(const Finding& finding) {
        m_json.begin_object();
        m_json.member("rule", finding.rule);
        if (m_decisions) {
            m_json.member("source", finding.source);
        }
        m_json.member("file", file_of(finding));
        if (const trace::Event* const event = finding.event; event != nullptr) {
            m_json.member("record", event->record);
            m_json.member("time_ns", event->timed ? std::optional(event->time_ns) : std::nullopt);
            m_json.member("ticks", event->ticks.value);
            m_decisions ? m_json.member("event", event->row->name) : m_json.member("cpu", event->cpu);
        }
        m_json.member("task", finding.task);
        m_json.member("text", finding.text);
        m_json.end_object();
    }

    Output& m_out;
    const formats::Trace& m_trace;
    bool m_decisions;
    bool m_as_json;
    analyse::CrashWatch m_ends;
    std::vector<analyse::Crash> m_crashes;
    fmt::memory_buffer m_findings; // text or JSON
    text::JsonDocument m_json{m_findings, 1};
};

// Writes a judgement as JUnit XML, which Jenkins, GitLab and actions of GitHub read: one suite, a test case for each
// thing that is judged. The elements and attributes are those that Jenkins's junit-10.xsd has. There are no times,
// because the duration of a test says nothing about a trace.
class JunitReport {
  public:
    // So many lines of each case are kept; the others are counted.
    static constexpr std::size_t kLinesMax = 10;

    enum class Outcome : std::uint8_t { passed, skipped, failed, error };

    struct Case {
        std::string_view group;
        std::string name;
        Outcome outcome = Outcome::passed;
        std::string message{}; // unless it passed
        std::string text{};    // unless it passed: the details, in lines
    };

    // file: where the document is written, - for standard output; empty: nowhere. command: such as "check".
    JunitReport(std::string file, std::string_view command, std::string trace)
        : m_file(std::move(file))
        , m_command(command)
        , m_trace(std::move(trace)) {}

    [[nodiscard]] bool wanted() const { return !m_file.empty(); }

    // Returns whether the document is written to standard output, where nothing else is printed then.
    [[nodiscard]] bool on_standard_output() const { return m_file == "-"; }

    void add(Case judged) { m_cases.push_back(std::move(judged)); }

    // Keeps a violation of the rule, in one line, for add_rule().
    void note(std::string_view rule, std::string_view line);

    // Adds the case of a rule: failed with the lines that were noted, else skipped for the reason, if there is one.
    void add_rule(std::string_view group, std::string_view rule, std::uint64_t violations, std::string reason);

    // Adds the case of the run: failed if it ended badly. Returns kEndedBadly then, else clean.
    trace::ExitStatus add_end(std::span<const analyse::Crash> crashes);

    // Keeps a line of diagnostics about the trace, for write().
    void note_damage(std::string_view line) { note("readable", line); }

    // Adds the case of reading the trace, which ended with this status, and writes the document. Returns clean,
    // no_space or usage.
    [[nodiscard]] trace::ExitStatus write(trace::ExitStatus read, Context context);

    // Writes the document without that case, because the trace was not read. Returns clean, no_space or usage.
    [[nodiscard]] trace::ExitStatus store(Context context);

  private:
    struct Lines {
        std::string text;
        std::size_t count = 0;
    };

    [[nodiscard]] std::size_t count(Outcome outcome) const;
    [[nodiscard]] std::string noted(std::string_view rule) const;
    [[nodiscard]] std::string document() const;

    std::string m_file;
    std::string m_command;
    std::string m_trace;
    std::vector<Case> m_cases;
    std::map<std::string, Lines, std::less<>> m_noted;
};

inline void add_junit_option(Command& command, std::string& file) {
    command
        .option("--junit", file,
                "write the judgement as JUnit XML to this file, for continuous integration; -: instead "
                "of the text, to standard output")
        .check([](const std::string& text) { return text.empty() ? "must be a name, or - for standard output" : ""; });
}

// The work of a command with a trace: it returns its verdict, and adds its cases to the report.
using Judge = std::function<trace::ExitStatus(formats::Trace&, JunitReport&)>;

// Reads and judges a trace. The report is written however the reading ends.
[[nodiscard]] inline trace::ExitStatus with_judged_trace(TraceInput input, Context context, std::string_view command,
                                                         JunitReport report, const Judge& judge) {
    if (input.json && report.on_standard_output()) {
        context.err.print("remora {}: --json and --junit - both write to standard output: name a file\n", command);
        return trace::ExitStatus::usage;
    }
    input.judges = true;
    input.on_diagnostic = [&report](std::string_view line) { report.note_damage(line); };
    auto judged = trace::ExitStatus::clean;
    const trace::ExitStatus read =
        with_trace(input, context, command == "check" ? "checking" : "verifying", [&](formats::Trace& trace) {
            judged = judge(trace, report);
            return trace::ExitStatus::clean;
        });
    return worse(worse(read, judged), report.write(read, context));
}

} // namespace host::cli
