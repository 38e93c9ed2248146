// SPDX-License-Identifier: MIT
#include "fleet/questions/selection.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

namespace host::fleet::questions {

namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr auto kUnits =
    std::to_array<std::pair<char, std::int64_t>>({{'s', 1}, {'m', 60}, {'h', 3'600}, {'d', 86'400}});

constexpr std::int64_t kCountMax = 1'000'000'000;

// Takes `count` digits and the text after them. Returns nothing if something else is there.
std::optional<int> take_digits(std::string_view& text, std::size_t count, std::string_view after) {
    const std::string_view digits = text.substr(0, count);
    const bool fits = digits.size() == count && digits.find_first_not_of("0123456789") == std::string_view::npos &&
                      text.substr(count).starts_with(after);
    text.remove_prefix(fits ? count + after.size() : 0);
    return fits ? text::number_of<int>(digits) : std::nullopt;
}

std::optional<std::int64_t> calendar_moment(std::string_view text) {
    const auto year = take_digits(text, 4, "-");
    const auto month = year ? take_digits(text, 2, "-") : std::nullopt;
    const auto day = month ? take_digits(text, 2, "") : std::nullopt;
    if (!day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    std::array<int, 3> clock{}; // hours, minutes, seconds
    constexpr std::array<int, 3> kEnds = {24, 60, 60};
    std::size_t parts = 0;
    while (parts < clock.size() && !text.empty() && text.front() == (parts == 0 ? 'T' : ':')) {
        text.remove_prefix(1);
        const auto part = take_digits(text, 2, "");
        if (!part || *part >= kEnds[parts]) {
            return std::nullopt;
        }
        clock[parts++] = *part;
    }
    if (!date.ok() || parts == 1 || (!text.empty() && (parts == 0 || text != "Z"))) {
        return std::nullopt;
    }
    return sys_days(date).time_since_epoch().count() * std::int64_t{86'400} + clock[0] * 3'600 + clock[1] * 60 +
           clock[2];
}

} // namespace

std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_s) {
    const auto* const unit =
        text.empty() ? kUnits.end() : std::ranges::find(kUnits, text.back(), &decltype(kUnits)::value_type::first);
    const auto count = text::number_of<std::int64_t>(text.substr(0, text.size() - (text.empty() ? 0 : 1)));
    if (count && *count >= 0 && *count <= kCountMax && unit != kUnits.end()) {
        return now_s - *count * unit->second;
    }
    return calendar_moment(text);
}

std::string moment_text(std::int64_t time_s) {
    const auto day = std::chrono::floor<days>(std::chrono::sys_seconds(std::chrono::seconds(time_s)));
    const std::chrono::year_month_day date(day);
    const std::int64_t of_day = time_s - std::chrono::sys_seconds(day).time_since_epoch().count();
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), of_day / 3'600,
                       of_day / 60 % 60, of_day % 60);
}

lib::Result<Selection, trace::Refusal> selection_of(std::string_view text, std::int64_t now_s) {
    Selection selection;
    while (!text.empty()) {
        const std::string_view one = text::take_until(text, ",");
        std::string_view value = one;
        const std::string_view key = text::take_until(value, "=");
        const auto* const of_text =
            std::ranges::find(kSelectionTexts, key, &decltype(kSelectionTexts)::value_type::first);
        const auto* const of_time =
            std::ranges::find(kSelectionTimes, key, &decltype(kSelectionTimes)::value_type::first);
        if (of_text != kSelectionTexts.end() && !value.empty()) {
            selection.*of_text->second = value;
        } else if (of_time != kSelectionTimes.end() && moment_of(value, now_s)) {
            selection.*of_time->second = moment_of(value, now_s);
        } else {
            return trace::Refusal{
                fmt::format("{}: say which runs as in node=pi-1,since=7d; the keys are site, node, boot, application, "
                            "task, since and until",
                            text::escaped(one))};
        }
    }
    return selection;
}

Selection completed(Selection selection, const Selection& other) {
    for (const auto& [name, member] : kSelectionTexts) {
        selection.*member = (selection.*member).empty() ? other.*member : selection.*member;
    }
    for (const auto& [name, member] : kSelectionTimes) {
        selection.*member = selection.*member ? selection.*member : other.*member;
    }
    return selection;
}

std::string where(const Selection& selection, const Database& database, const Conditions& of) {
    std::vector<std::string> conditions;
    if (!of.more.empty()) {
        conditions.emplace_back(of.more);
    }
    for (const auto& [column, member] : kSelectionTexts) {
        const std::string& value = selection.*member;
        if (value.empty() || (column == "task" && !of.has_task)) {
            continue;
        }
        const std::string condition = fmt::format("{} = {}", column, database.quoted(value));
        conditions.push_back(
            column == "application" && !of.has_application
                ? fmt::format("(site, node, boot) IN (SELECT site, node, boot FROM nodes WHERE {})", condition)
                : condition);
    }
    if (selection.since_s) {
        conditions.push_back(fmt::format("{} >= {}", of.time, *selection.since_s));
    }
    if (selection.until_s) {
        conditions.push_back(fmt::format("{} < {}", of.time, *selection.until_s));
    }
    return conditions.empty() ? "" : " WHERE " + text::joined(conditions, " AND ");
}

std::string limit_text(std::uint64_t limit) {
    return limit == 0 ? "" : fmt::format(" LIMIT {}", limit + 1);
}

} // namespace host::fleet::questions
