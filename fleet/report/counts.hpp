// SPDX-License-Identifier: MIT
// How many jobs of each task on each node there were, over time: as fine as the store counts (minutes), unless that is
// more than a page holds.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::fleet::report {

struct Count {
    std::string site;
    std::string node;
    std::string task;
    std::int64_t begin_s = 0; // of its bucket, since 1970
    std::uint64_t jobs = 0;
    std::uint64_t missed = 0;
    std::uint64_t longest_ns = 0; // 0: no job has a response time
};

struct Counts {
    std::vector<Count> rows; // by site, node, task, begin_s
    std::int64_t bucket_s = 60;
    std::int64_t begin_s = 0; // of the first bucket
    std::int64_t end_s = 0;   // of the last one
    bool cut = false;         // those with the most misses are here; there are more
};

// Of a page.
struct CountsMax {
    std::uint64_t rows = 200'000;
    std::int64_t buckets = 240;
};

[[nodiscard]] lib::Result<Counts, StoreFailure> counts_of(const questions::Selection& selection, Database& database,
                                                          const CountsMax& max = {});

} // namespace host::fleet::report
