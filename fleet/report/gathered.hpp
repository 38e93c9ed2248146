// SPDX-License-Identifier: MIT
// What the page of a fleet shows, as the store answers it, and what of it was left out.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/report/counts.hpp"
#include "fleet/report/responses.hpp"
#include "fleet/report/worst_case.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace host::fleet::report {

// Rows of a page at most.
struct Limits {
    CountsMax counts{};
    std::uint64_t responses = 500'000; // that are read
    std::uint64_t worst = 500;         // by response, and as many by lateness
    std::size_t runs = 20'000;
};

struct Gathered {
    questions::Asked asked; // its place and selection
    std::int64_t made_s = 0;
    questions::Findings nodes{};
    questions::Findings accounts{}; // of runs
    Counts counts{};
    Responses responses{};
    WorstCases worst{};
    Limits limits{};
};

[[nodiscard]] lib::Result<Gathered, StoreFailure> gather(const questions::Asked& asked, std::int64_t made_s,
                                                         Database& database, const Limits& limits = {});

} // namespace host::fleet::report
