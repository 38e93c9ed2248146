// SPDX-License-Identifier: MIT
// The conditions of a query that the table `events` answers by itself: ranges of stamps or times, a processor, an
// event; and groupings that EventCounts answers. SQLite hands them over in two steps: a plan (which conditions, as
// text) and, for each walk, their values. SQLite checks every row again, so a walk may return too much and never too
// little.
#pragma once

#include "host/sql/bounds.hpp"
#include "host/sql/event_columns.hpp"
#include "host/sql/source.hpp"

#include <optional>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>
#include <vector>

namespace host::sql {

// Chooses conditions and estimates costs. records: about how many the trace has.
[[nodiscard]] int plan_walk(sqlite3_index_info& info, std::uint64_t records);

struct WalkRequest {
    ScanRequest scan;
    std::optional<std::string> event; // only events of this name
    std::optional<std::int64_t> code; // only events of this code
    bool nothing = false;             // no event can fulfil the conditions
    std::vector<EventColumn> counted; // by these columns, see EventCounts; none: event by event
};

// plan: as plan_walk() left it.
[[nodiscard]] WalkRequest request_of(std::string_view plan, std::span<sqlite3_value*> values);

} // namespace host::sql
