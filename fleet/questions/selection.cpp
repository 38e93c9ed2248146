// SPDX-License-Identifier: MIT
#include "fleet/questions/selection.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

namespace host::fleet::questions {

namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr auto kUnits =
    std::to_array<std::pair<char, std::int64_t>>({{'s', 1}, {'m', 60}, {'h', 3'600}, {'d', 86'400}});

constexpr std::int64_t kCountMax = 1'000'000'000;

constexpr auto kTexts = std::to_array<std::pair<std::string_view, std::string Selection::*>>({
    {"site", &Selection::site},
    {"node", &Selection::node},
    {"boot", &Selection::boot},
    {"application", &Selection::application},
    {"task", &Selection::task},
});

constexpr auto kMoments = std::to_array<std::pair<std::string_view, std::optional<std::int64_t> Selection::*>>({
    {"since", &Selection::since_s},
    {"until", &Selection::until_s},
});

// Takes `count` digits, and the character after them, unless it is 0. Returns nothing if something else is there.
std::optional<int> take_digits(std::string_view& text, std::size_t count, char after) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(count, text.size()), number);
    const std::size_t length = count + (after != '\0' ? 1 : 0);
    if (error != std::errc{} || end != text.data() + count || number < 0 || text.size() < length ||
        (after != '\0' && text[count] != after)) {
        return std::nullopt;
    }
    text.remove_prefix(length);
    return number;
}

std::optional<std::int64_t> calendar_moment(std::string_view text) {
    const auto year = take_digits(text, 4, '-');
    const auto month = year ? take_digits(text, 2, '-') : std::nullopt;
    const auto day = month ? take_digits(text, 2, '\0') : std::nullopt;
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
        const auto part = take_digits(text, 2, '\0');
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
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const auto* const unit = end + 1 == text.data() + text.size()
                                 ? std::ranges::find(kUnits, *end, &std::pair<char, std::int64_t>::first)
                                 : kUnits.end();
    if (error == std::errc{} && count >= 0 && count <= kCountMax && unit != kUnits.end()) {
        return now_s - count * unit->second;
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
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const std::size_t equals = std::min(one.find('='), one.size());
        const std::string_view key = one.substr(0, equals);
        const std::string_view value = one.substr(std::min(equals + 1, one.size()));
        const auto* const of_text = std::ranges::find(kTexts, key, &decltype(kTexts)::value_type::first);
        const auto* const of_time = std::ranges::find(kMoments, key, &decltype(kMoments)::value_type::first);
        if (of_text != kTexts.end() && !value.empty()) {
            selection.*of_text->second = value;
        } else if (of_time != kMoments.end() && moment_of(value, now_s)) {
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

std::string where(const Selection& selection, const Database& database, const Conditions& of) {
    std::string text;
    const auto add = [&text](std::string_view condition) {
        text += fmt::format(" {} {}", text.empty() ? "WHERE" : "AND", condition);
    };
    const auto equals = [&](std::string_view column, const std::string& value) {
        if (!value.empty()) {
            add(fmt::format("{} = {}", column, database.quoted(value)));
        }
    };
    if (!of.more.empty()) {
        add(of.more);
    }
    equals("site", selection.site);
    equals("node", selection.node);
    equals("boot", selection.boot);
    if (of.has_application) {
        equals("application", selection.application);
    } else if (!selection.application.empty()) {
        add(fmt::format("(site, node, boot) IN (SELECT site, node, boot FROM nodes WHERE application = {})",
                        database.quoted(selection.application)));
    }
    if (of.has_task) {
        equals("task", selection.task);
    }
    if (selection.since_s) {
        add(fmt::format("{} >= {}", of.time, *selection.since_s));
    }
    if (selection.until_s) {
        add(fmt::format("{} < {}", of.time, *selection.until_s));
    }
    return text;
}

std::string limit_text(std::uint64_t limit) {
    return limit == 0 ? "" : fmt::format(" LIMIT {}", limit + 1);
}

} // namespace host::fleet::questions
