// SPDX-License-Identifier: MIT
// What the commands that judge a trace print alike: the violations, as they are found, what was relaxed, and the ends
// of their JSON documents.
#pragma once

#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/json_version.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/names.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace host::cli {

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
        m_json.begin_array();
    }

    struct Finding {
        std::string_view rule;
        std::string_view source{}; // of the rule
        const trace::Event* event; // null: about the whole file
        std::string_view file{};   // if there is no event
        std::optional<std::uint16_t> task;
        std::string_view text; // printable
    };

    void show(const Finding& finding) {
        if (m_as_json) {
            add_json(finding);
        } else {
            m_out.print("{}  {}\n", m_out.styled(Style::bad, finding.rule), sentence(finding));
        }
    }

    // The finding in one line, without the rule.
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

    // The last members of the command's document, and its end. Called once.
    void end(text::JsonDocument& document, std::span<const std::string> relaxations) {
        document.begin_array("relaxed");
        for (const std::string& relaxation : relaxations) {
            document.value(text::escaped(relaxation));
        }
        document.end_array();
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
    fmt::memory_buffer m_findings;
    text::JsonDocument m_json{m_findings, 1};
};

} // namespace host::cli
