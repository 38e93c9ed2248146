// SPDX-License-Identifier: MIT
// A selection, from the words of a user, and as a condition in SQL.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet::questions {

// Seconds since 1970. 2026-11-24, 2026-11-24T10:00, 2026-11-24T10:00:30, each in UTC; or 30s, 45m, 2h, 7d before now.
[[nodiscard]] std::optional<std::int64_t> moment_of(std::string_view text, std::int64_t now_s);

// 2026-11-24T10:00:30
[[nodiscard]] std::string moment_text(std::int64_t time_s);

// node=pi-1,since=7d. Refused, with the reason: another key, or no time.
[[nodiscard]] lib::Result<Selection, trace::Refusal> selection_of(std::string_view text, std::int64_t now_s);

// Of which table a condition is.
struct Conditions {
    std::string_view time = "started_s"; // the column that since and until are about
    bool has_application = false;        // the table has it; else it is looked up in `nodes`
    bool has_task = false;
    std::string_view more{}; // another condition
};

// " WHERE a AND b", or nothing.
[[nodiscard]] std::string where(const Selection& selection, const Database& database, const Conditions& of);

// " LIMIT n": one row more than asked for, so that it shows whether there is one. 0: all.
[[nodiscard]] std::string limit_text(std::uint64_t limit);

} // namespace host::fleet::questions
