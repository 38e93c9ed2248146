// SPDX-License-Identifier: MIT
#include "fleet/report/worst_case.hpp"

#include "fleet/questions/question.hpp"
#include "fleet/report/listing_column.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace host::fleet::report {

namespace {

using Seen = std::set<std::tuple<std::string, std::string, std::string, std::string, std::int64_t>>;

WorstCase case_of(const ListingColumns& columns, std::size_t row) {
    WorstCase one{.site = columns.text(row, "site"),
                  .node = columns.text(row, "node"),
                  .boot = columns.text(row, "boot"),
                  .task = columns.text(row, "task"),
                  .job = columns.number(row, "job").value_or(0),
                  .time_s = columns.number(row, "time_s").value_or(0),
                  .span = std::nullopt,
                  .response_ns = columns.number(row, "response_ns").value_or(0),
                  .deadline_ns = columns.number(row, "deadline_ns"),
                  .lateness_ns = columns.number(row, "lateness_ns"),
                  .missed = columns.number(row, "missed").value_or(0) != 0,
                  .outcome = columns.text(row, "outcome")};
    const auto release = columns.number(row, "release_ns");
    const auto end = columns.number(row, "end_ns");
    if (release && end && *release >= 0 && *release <= *end) {
        one.span = span_around(*release, *end);
    }
    return one;
}

} // namespace

lib::Result<WorstCases, StoreFailure> worst_cases_of(const questions::Asked& asked, Database& database,
                                                     std::uint64_t each_max) {
    WorstCases cases;
    Seen seen;
    for (const char* const by : {"response", "lateness"}) {
        questions::Asked one = asked;
        one.by = by;
        one.limit = each_max;
        const auto found = questions::ask(questions::kWorst, one, database);
        if (!found) {
            return found.error();
        }
        const questions::Listing& listing = found.value().listings.front();
        const ListingColumns columns(listing);
        for (std::size_t row = 0; row < listing.rows.size(); ++row) {
            WorstCase next = case_of(columns, row);
            if (seen.emplace(next.site, next.node, next.boot, next.task, next.job).second) {
                cases.rows.push_back(std::move(next));
            }
        }
        cases.cut = cases.cut || listing.cut;
    }
    std::ranges::stable_sort(cases.rows, std::greater{}, &WorstCase::response_ns);
    return cases;
}

} // namespace host::fleet::report
