// SPDX-License-Identifier: MIT
// Gathers what the page of a fleet shows, what is left out of it, and the commands that ask for the rest.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/selection.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::report {

// Returns remora fleet QUESTION PLACE with the selection of the page and more words.
[[nodiscard]] std::string fleet_command(std::string_view question, const questions::Asked& asked,
                                        std::string_view more);

// A span is in the trace's time.
struct Span {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;

    friend auto operator<=>(const Span&, const Span&) = default;
};

// Returns the span of a job, extended by its response time before its release and after its end.
[[nodiscard]] Span span_around(std::int64_t release_ns, std::int64_t end_ns);

// Returns remora report ARCHIVE of that span.
[[nodiscard]] std::string report_command(const std::string& archive, const Span& span);

// The jobs of a task on a node in one bucket of time. The buckets are minutes, as in the store, unless that is more
// than a page holds.
struct Counts {
    questions::Listing listing{};
    std::int64_t bucket_s = 60;
    std::int64_t begin_s = 0; // of the first bucket, since 1970
    std::int64_t end_s = 0;   // of the last one
};

// A page holds at most this.
struct CountsMax {
    std::uint64_t rows = 200'000;
    std::int64_t buckets = 240;
};

[[nodiscard]] lib::Result<Counts, StoreFailure> counts_of(const questions::Selection& selection, Database& database,
                                                          const CountsMax& max = {});

// The response times of each task in the whole fleet and, if these are not too many, on each node.
struct Responses {
    questions::Listing classes{}; // in the whole fleet, by task and class
    questions::Listing of_tasks{};
    questions::Listing of_nodes{};
    bool without_nodes = false; // of_nodes is empty, because it would be too large
};

// A worst case is a job with a long response or great lateness, as a row of a page, and where it can be seen.
struct WorstCase {
    std::string site;
    std::string node;
    std::string boot;
    std::string task;
    std::int64_t job = 0;
    std::int64_t time_s = 0;  // since 1970
    std::optional<Span> span; // around the job, in the trace's time
    std::int64_t response_ns = 0;
    std::optional<std::int64_t> deadline_ns; // after the release
    std::optional<std::int64_t> lateness_ns;
    bool missed = false;
    std::string outcome;
    std::string session{}; // path of the session of its run; empty if it is not at hand
    std::string page{};    // name of the report of its run; empty if there is none
};

struct WorstCases {
    std::vector<WorstCase> rows; // the longest response first
    bool cut = false;            // there are more
};

// A page has at most this many rows.
struct Limits {
    CountsMax counts{};
    std::uint64_t responses = 500'000; // read for each node
    std::uint64_t worst = 500;         // by response, and as many by lateness
    std::size_t runs = 20'000;
};

struct Gathered {
    questions::Asked asked; // its place and selection
    std::int64_t made_s = 0;
    questions::Findings nodes{};
    questions::Findings accounts{}; // those of the runs
    Counts counts{};
    Responses responses{};
    WorstCases worst{};
    Limits limits{};
};

[[nodiscard]] lib::Result<Gathered, StoreFailure> gather(const questions::Asked& asked, std::int64_t made_s,
                                                         Database& database, const Limits& limits = {});

} // namespace host::fleet::report
