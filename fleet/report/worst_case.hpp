// SPDX-License-Identifier: MIT
// The jobs with the longest responses and the greatest lateness, as rows of a page, and where each can be seen.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "fleet/report/commands.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace host::fleet::report {

struct WorstCase {
    std::string site;
    std::string node;
    std::string boot;
    std::string task;
    std::int64_t job = 0;
    std::int64_t time_s = 0;  // since 1970
    std::optional<Span> span; // around it, by the trace's time
    std::int64_t response_ns = 0;
    std::optional<std::int64_t> deadline_ns; // after the release
    std::optional<std::int64_t> lateness_ns;
    bool missed = false;
    std::string outcome;
    std::string session{}; // of its run: the path; empty: it is not at hand
    std::string page{};    // the name of the report of its run; empty: there is none
};

struct WorstCases {
    std::vector<WorstCase> rows; // the longest response first
    bool cut = false;            // there are more
};

// So many of each.
[[nodiscard]] lib::Result<WorstCases, StoreFailure> worst_cases_of(const questions::Asked& asked, Database& database,
                                                                   std::uint64_t each_max = 500);

} // namespace host::fleet::report
