// SPDX-License-Identifier: MIT
// A judgement as JUnit XML, which Jenkins, GitLab and actions of GitHub read: one suite, a test case for each thing
// that is judged. The elements and attributes are those that Jenkins's junit-10.xsd has. No times: how long a test took
// says nothing about a trace.
#pragma once

#include "host/cli/terminal/output.hpp"
#include "host/trace/diagnostics.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::cli {

class JunitReport {
  public:
    // Of each case; the others are counted.
    static constexpr std::size_t kLinesMax = 10;

    enum class Outcome : std::uint8_t { passed, skipped, failed, error };

    struct Case {
        std::string_view group;
        std::string name;
        Outcome outcome = Outcome::passed;
        std::string message{}; // unless it passed
        std::string text{};    // likewise: the details, in lines
    };

    // file: where it goes, - for standard output; empty: nowhere. command: such as "check".
    JunitReport(std::string file, std::string_view command, std::string trace)
        : m_file(std::move(file))
        , m_command(command)
        , m_trace(std::move(trace)) {}

    [[nodiscard]] bool wanted() const { return !m_file.empty(); }

    // Nothing else is printed there.
    [[nodiscard]] bool on_standard_output() const { return m_file == "-"; }

    void add(Case judged) { m_cases.push_back(std::move(judged)); }

    // A violation of the rule, in one line, for add_rule().
    void note(std::string_view rule, std::string_view line);

    // The case of a rule: failed with the lines that were noted, else skipped for the reason, if there is one.
    void add_rule(std::string_view group, std::string_view rule, std::uint64_t violations, std::string reason);

    // A line of diagnostics about the trace, for write().
    void note_damage(std::string_view line) { note("readable", line); }

    // Adds the case of reading the trace, which ended with this status, and writes the document. clean, no_space,
    // usage.
    [[nodiscard]] trace::ExitStatus write(trace::ExitStatus read, Context context);

    // The document as it is: the trace was not read. Likewise.
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

} // namespace host::cli
