// SPDX-License-Identifier: MIT
// Chunks that a manifest lists, against those that are stored.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "fleet/questions/runs.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace host::fleet::questions {

// Of one run.
struct Gaps {
    std::uint64_t chunks = 0;   // listed, and not stored
    std::uint64_t records = 0;  // in them, as the manifest says
    std::uint64_t other = 0;    // stored with other bytes, or another number of records
    std::uint64_t nameless = 0; // files in the list whose chunk does not say which one it is: they are not published

    // The first that is not stored as it is listed. Empty: all are.
    std::string file;
    std::uint64_t cpu = 0;
    std::uint64_t chunk = 0;
    std::uint64_t generation = 0;
    bool first_is_other = false;
};

using GapsByRun = std::map<RunName, Gaps>;

// A row for each listed chunk that is not stored as it is listed, in the order of the lists.
[[nodiscard]] std::string gaps_statement(const Selection& selection, const Database& database);

// How many files of each run's list are nameless.
[[nodiscard]] std::string nameless_statement(const Selection& selection, const Database& database);

[[nodiscard]] GapsByRun gaps_of(const Answer& gaps, const Answer& nameless);

} // namespace host::fleet::questions
