// SPDX-License-Identifier: MIT
#include "fleet/command/fleet_output.hpp"

#include "fleet/questions/selection.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace host::cli {

namespace {

using fleet::questions::Field;
using fleet::questions::Findings;
using fleet::questions::Form;
using fleet::questions::Listing;
using fleet::questions::Shown;
using fleet::questions::Verdict;
using fleet::questions::View;

std::string number_text(Form form, std::int64_t number) {
    constexpr std::uint32_t kTicksAreNs = 1'000'000;
    const bool negative = number < 0;
    const auto magnitude =
        negative ? std::uint64_t{0} - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    switch (form) {
    case Form::moment:
        return fleet::questions::moment_text(number);
    case Form::duration:
        return (negative ? "-" : "") + Times(kTicksAreNs).text(lib::Ticks{magnitude});
    case Form::text:
    case Form::count:
    case Form::share:
    case Form::ratio:
        break;
    }
    return (negative ? "-" : "") + grouped(magnitude);
}

std::string field_text(const View& view, const Field& field) {
    if (const auto* const text = std::get_if<std::string>(&field)) {
        return text::escaped(*text);
    }
    if (const auto* const number = std::get_if<std::int64_t>(&field)) {
        return number_text(view.form, *number);
    }
    if (const auto* const fraction = std::get_if<double>(&field)) {
        return view.form == Form::share ? fmt::format("{:.3f} %", 100 * *fraction) : fmt::format("{:.2f} x", *fraction);
    }
    return "-";
}

void print_line(Output& out, const std::vector<View>& views, const std::vector<std::size_t>& widths,
                const std::vector<std::string>& texts, bool heading) {
    std::string line;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (views[i].shown == Shown::json) {
            continue;
        }
        const bool left = views[i].form == Form::text || views[i].form == Form::moment;
        line += fmt::format("{}", line.empty() ? "" : "  ");
        line += left ? fmt::format("{:<{}}", texts[i], widths[i]) : fmt::format("{:>{}}", texts[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.print("{}\n", heading ? out.styled(Style::strong, line) : line);
}

void print_listing(Output& out, const Listing& listing) {
    std::vector<std::string> headings;
    std::vector<std::size_t> widths;
    for (const View& view : listing.views) {
        headings.emplace_back(view.heading);
        widths.push_back(view.heading.size());
    }
    std::vector<std::vector<std::string>> rows;
    for (const std::vector<Field>& fields : listing.rows) {
        std::vector<std::string>& texts = rows.emplace_back();
        for (std::size_t i = 0; i < fields.size() && i < listing.views.size(); ++i) {
            texts.push_back(field_text(listing.views[i], fields[i]));
            widths[i] = std::max(widths[i], texts.back().size());
        }
    }
    print_line(out, listing.views, widths, headings, true);
    for (const std::vector<std::string>& texts : rows) {
        print_line(out, listing.views, widths, texts, false);
    }
    if (rows.empty()) {
        out.print("none\n");
    }
    if (listing.cut) {
        out.print("and more: see --limit\n");
    }
}

void write_field(text::JsonText& json, const Field& field) {
    if (const auto* const text = std::get_if<std::string>(&field)) {
        json.value(*text);
    } else if (const auto* const number = std::get_if<std::int64_t>(&field)) {
        json.value(*number);
    } else if (const auto* const fraction = std::get_if<double>(&field)) {
        json.value(*fraction);
    } else {
        json.value(nullptr);
    }
}

void write_listing(Output& out, text::JsonText& json, const Listing& listing) {
    json.begin_array(listing.name);
    for (const std::vector<Field>& fields : listing.rows) {
        json.line();
        json.begin_object();
        for (std::size_t i = 0; i < fields.size() && i < listing.views.size(); ++i) {
            if (listing.views[i].shown != Shown::text) {
                json.key(listing.views[i].key);
                write_field(json, fields[i]);
            }
        }
        json.end_object();
        out.flush_if_full();
    }
    json.end_lines();
}

std::string_view verdict_text(Verdict verdict) {
    return verdict == Verdict::closed ? "closed" : verdict == Verdict::missing ? "missing" : "open";
}

} // namespace

void print_findings(Output& out, const Findings& findings) {
    bool first = true;
    for (const Listing& listing : findings.listings) {
        if (listing.shown == Shown::json) {
            continue;
        }
        out.print("{}", first ? "" : "\n");
        first = false;
        print_listing(out, listing);
    }
    out.print("{}", findings.lines.empty() ? "" : "\n");
    for (const std::string& line : findings.lines) {
        out.print("{}\n", line);
    }
}

void print_findings_json(Output& out, std::string_view question, const Findings& findings) {
    text::JsonText json(out.buffer());
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("question", question);
    if (findings.verdict != Verdict::none) {
        json.member("verdict", verdict_text(findings.verdict));
    }
    bool cut = false;
    for (const Listing& listing : findings.listings) {
        cut = cut || listing.cut;
        if (listing.shown != Shown::text) {
            write_listing(out, json, listing);
        }
    }
    json.member("cut", cut);
    json.begin_array("lines");
    for (const std::string& line : findings.lines) {
        json.value(line);
    }
    json.end_array();
    json.end_object();
    out.print("\n");
}

} // namespace host::cli
