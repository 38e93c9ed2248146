// SPDX-License-Identifier: MIT
#include "host/cli/command/report/report_comparison.hpp"

#include "host/cli/command/diff/diff_view.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace host::cli {

namespace {

using Json = text::JsonText;
using analyse::Both;
using analyse::Run;
using analyse::RunPhase;

void add_side(Json& json, std::size_t trace, std::string_view title, std::optional<std::int64_t> from_ns,
              std::optional<std::int64_t> to_ns) {
    json.begin_object();
    json.member("trace", trace);
    json.member("title", title);
    json.member("from_ns", from_ns);
    json.member("to_ns", to_ns);
    json.end_object();
}

void add_pair(Json& json, const analyse::Phrases& phrases, const Both<std::size_t>& sides, const Both<const Run*>& runs,
              const Both<std::string>& titles) {
    DiffView view{.phrases = phrases, .runs = runs, .titles = titles};
    view.first = analyse::first_difference(runs[0]->decisions, runs[1]->decisions, view.tolerance);
    view.tasks = analyse::task_changes(*runs[0], *runs[1], view.tolerance);
    fmt::memory_buffer diff;
    write_diff_json(diff, view);
    json.begin_object();
    json.begin_array("of");
    json.value(sides[0]);
    json.value(sides[1]);
    json.end_array();
    json.key("diff");
    json.plain({diff.data(), diff.size()});
    json.end_object();
}

std::vector<std::byte> bytes_of(const fmt::memory_buffer& buffer) {
    const auto bytes = std::as_bytes(std::span(buffer.data(), buffer.size()));
    return {bytes.begin(), bytes.end()};
}

std::string title_of(const RunPhase& phase) {
    return fmt::format("phase {}", phase.number);
}

} // namespace

std::vector<std::byte> compared_traces(const analyse::Phrases& phrases, const Both<const Run*>& runs,
                                       const Both<std::string>& titles) {
    fmt::memory_buffer buffer;
    Json json(buffer);
    json.begin_object();
    json.begin_array("sides");
    for (std::size_t side = 0; side < titles.size(); ++side) {
        add_side(json, side, titles[side], std::nullopt, std::nullopt);
    }
    json.end_array();
    json.begin_array("pairs");
    add_pair(json, phrases, {0, 1}, runs, titles);
    json.end_array();
    json.member("chosen", 0);
    json.end_object();
    return bytes_of(buffer);
}

std::optional<PhasePair> phase_pair_of(const std::string& text) {
    const std::size_t comma = std::min(text.find(','), text.size());
    PhasePair pair{};
    const auto parse = [](std::string_view word, std::uint32_t& number) {
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        return error == std::errc{} && end == word.data() + word.size();
    };
    const std::string_view view = text;
    const bool is_pair = parse(view.substr(0, comma), pair[0]) && comma < text.size() &&
                         parse(view.substr(comma + 1), pair[1]) && pair[0] != pair[1];
    return is_pair ? std::optional(pair) : std::nullopt;
}

std::vector<std::byte> compared_phases(const analyse::Phrases& phrases, const Run& run,
                                       std::span<const RunPhase> phases, const std::optional<PhasePair>& chosen) {
    fmt::memory_buffer buffer;
    Json json(buffer);
    json.begin_object();
    std::vector<Run> parts;
    json.begin_array("sides");
    for (const RunPhase& phase : phases) {
        add_side(json, 0, title_of(phase), phase.from_ns, phase.to_ns);
        parts.push_back(analyse::part_of(run, phase.from_ns, phase.to_ns));
    }
    json.end_array();
    std::size_t pairs = 0;
    std::optional<std::size_t> shown;
    json.begin_array("pairs");
    for (std::size_t a = 0; a < phases.size(); ++a) {
        for (std::size_t b = 0; b < phases.size(); ++b) {
            if (a == b) {
                continue;
            }
            add_pair(json, phrases, {a, b}, {&parts[a], &parts[b]}, {title_of(phases[a]), title_of(phases[b])});
            if (chosen && phases[a].number == (*chosen)[0] && phases[b].number == (*chosen)[1]) {
                shown = pairs;
            }
            ++pairs;
        }
    }
    json.end_array();
    json.member("chosen", shown);
    json.end_object();
    return bytes_of(buffer);
}

} // namespace host::cli
