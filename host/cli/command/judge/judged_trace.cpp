// SPDX-License-Identifier: MIT
#include "host/cli/command/judge/judged_trace.hpp"

#include "host/cli/command/exit_table.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <utility>

namespace host::cli {

namespace {

std::string_view element_of(JunitReport::Outcome outcome) {
    constexpr std::array<std::string_view, 4> kElements = {"", "skipped", "failure", "error"};
    return kElements[static_cast<std::size_t>(outcome)];
}

} // namespace

void JunitReport::note(std::string_view rule, std::string_view line) {
    if (!wanted()) {
        return;
    }
    Lines& lines = m_noted[std::string(rule)];
    if (++lines.count <= kLinesMax) {
        lines.text.append(line) += '\n';
    }
}

std::string JunitReport::noted(std::string_view rule) const {
    const auto found = m_noted.find(rule);
    if (found == m_noted.end()) {
        return {};
    }
    const Lines& lines = found->second;
    return lines.count <= kLinesMax ? lines.text : fmt::format("{}and {} more\n", lines.text, lines.count - kLinesMax);
}

void JunitReport::add_rule(std::string_view group, std::string_view rule, std::uint64_t violations,
                           std::string reason) {
    Case judged{.group = group, .name = std::string(rule)};
    if (violations != 0) {
        judged.outcome = Outcome::failed;
        judged.message = fmt::format("{} violation{}", violations, violations == 1 ? "" : "s");
        judged.text = noted(rule);
    } else if (!reason.empty()) {
        judged.outcome = Outcome::skipped;
        judged.message = std::move(reason);
    }
    add(std::move(judged));
}

trace::ExitStatus JunitReport::add_end(std::span<const analyse::Crash> crashes) {
    Case judged{.group = "trace", .name = "run"};
    if (analyse::ended_badly(crashes)) {
        judged.outcome = Outcome::failed;
        judged.message = analyse::sentence(crashes.front());
        judged.text = fmt::format("{}\n", fmt::join(analyse::lines_of(crashes.front()), "\n"));
    }
    const bool well = judged.outcome == Outcome::passed;
    add(std::move(judged));
    return well ? trace::ExitStatus::clean : kEndedBadly;
}

std::size_t JunitReport::count(Outcome outcome) const {
    return static_cast<std::size_t>(std::ranges::count(m_cases, outcome, &Case::outcome));
}

std::string JunitReport::document() const {
    const std::string totals = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", m_cases.size(),
                                           count(Outcome::failed), count(Outcome::error));
    std::string text =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n"
                    "  <testsuite name=\"remora {}\" {} skipped=\"{}\">\n"
                    "    <properties>\n      <property name=\"trace\" value=\"{}\"/>\n    </properties>\n",
                    totals, m_command, totals, count(Outcome::skipped), text::xml_escaped(m_trace));
    for (const Case& judged : m_cases) {
        text += fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\"", m_command, text::xml_escaped(judged.group),
                            text::xml_escaped(judged.name));
        if (judged.outcome == Outcome::passed) {
            text += "/>\n";
            continue;
        }
        const std::string_view element = element_of(judged.outcome);
        text += fmt::format(">\n      <{} message=\"{}\">{}</{}>\n    </testcase>\n", element,
                            text::xml_escaped(judged.message), text::xml_escaped(judged.text), element);
    }
    return text + "  </testsuite>\n</testsuites>\n";
}

trace::ExitStatus JunitReport::write(trace::ExitStatus read, Context context) {
    const bool clean = read == trace::ExitStatus::clean;
    add({.group = "trace",
         .name = "readable",
         .outcome = clean ? Outcome::passed : Outcome::error,
         .message = clean ? "" : std::string(exit_text(read)),
         .text = clean ? "" : noted("readable")});
    return store(context);
}

trace::ExitStatus JunitReport::store(Context context) {
    if (!wanted()) {
        return trace::ExitStatus::clean;
    }
    if (on_standard_output()) {
        context.out.print("{}", document());
        return trace::ExitStatus::clean;
    }
    const auto fail = [&](const output::Failure& failure) {
        context.err.print("remora {}: --junit {}: {}\n", m_command, text::escaped(m_file), failure.text);
        return output::status_of(failure.cause);
    };
    const auto destination = output::Destination::open(m_file, output::Destination::Shape::file, m_trace);
    if (!destination) {
        return fail(destination.error());
    }
    destination.value()->file().append(document());
    const auto committed = destination.value()->commit();
    return committed ? trace::ExitStatus::clean : fail(committed.error());
}

} // namespace host::cli
