// SPDX-License-Identifier: MIT
// A question is about selected runs and times. The selection is read from the words of a user and becomes a condition
// in SQL.
#pragma once

#include "fleet/database.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace host::fleet::questions {

// An empty member selects everything.
struct Selection {
    std::string site{};
    std::string node{};
    std::string boot{};
    std::string application{};
    std::string task{};
    std::optional<std::int64_t> since_s{}; // since 1970, UTC; included
    std::optional<std::int64_t> until_s{}; // not included
};

// The members by their names for a user.
inline constexpr auto kSelectionTexts = std::to_array<std::pair<std::string_view, std::string Selection::*>>({
    {"site", &Selection::site},
    {"node", &Selection::node},
    {"boot", &Selection::boot},
    {"application", &Selection::application},
    {"task", &Selection::task},
});
inline constexpr auto kSelectionTimes =
    std::to_array<std::pair<std::string_view, std::optional<std::int64_t> Selection::*>>({
        {"since", &Selection::since_s},
        {"until", &Selection::until_s},
    });

// Returns the selection with the members of the other one where its own are empty.
[[nodiscard]] Selection completed(Selection selection, const Selection& other);

struct Asked {
    std::string place; // as the user named it
    Selection only;
    std::uint64_t limit = 100; // rows of the answer
    std::string by;            // empty: the first of the question's words
    Selection a;               // the first of two that are compared
    Selection b;
    bool events = false; // verify: count the rows of `events`, too
};

// Returns seconds since 1970. text: 2026-11-24, 2026-11-24T10:00 or 2026-11-24T10:00:30, in UTC; or 30s, 45m, 2h, 7d
// before now.
[[nodiscard]] std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_s);

// Returns 2026-11-24T10:00:30, for example.
[[nodiscard]] std::string moment_text(std::int64_t time_s);

// text: node=pi-1,since=7d. Refuses an unknown key, or what is no time, and states the reason.
[[nodiscard]] lib::Result<Selection, trace::Refusal> selection_of(std::string_view text, std::int64_t now_s);

// States for which table a condition is.
struct Conditions {
    std::string_view time = "started_s"; // the column to which since and until apply
    bool has_application = false;        // the table has the column; else it is looked up in `nodes`
    bool has_task = false;
    std::string_view more{}; // another condition
};

// Returns " WHERE a AND b", or an empty text.
[[nodiscard]] std::string where(const Selection& selection, const Database& database, const Conditions& of);

// Returns " LIMIT n" with one row more than requested, which shows whether there are more. limit: 0 means all rows.
[[nodiscard]] std::string limit_text(std::uint64_t limit);

} // namespace host::fleet::questions
