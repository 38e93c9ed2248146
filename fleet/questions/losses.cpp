// SPDX-License-Identifier: MIT
// losses: of which runs records are missing, and who lost them: the tracer, the network, or the way from the recorder
// to the store.
#include "fleet/questions/cells.hpp"
#include "fleet/questions/gaps.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/runs.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::fleet::questions {

namespace {

constexpr std::size_t kSources = 8;
using Losses = std::array<std::uint64_t, kSources>;

// In the order of the views.
Losses losses_of(const RunRow& run, const Gaps& gaps) {
    return {run.lost_dropped(), run.lost_refused(), run.lost_overwritten(),   run.missing_records,
            run.lost_packets,   gaps.nameless,      gaps.chunks + gaps.other, gaps.records};
}

std::vector<std::string> statements(const Asked& asked, const Database& database) {
    return {runs_statement(asked.only, database), gaps_statement(asked.only, database),
            nameless_statement(asked.only, database)};
}

std::vector<View> views() {
    return {{"site", "site"},
            {"node", "node"},
            {"boot", "boot"},
            {"started_s", "started", Form::moment},
            {"dropped", "dropped", Form::count},
            {"refused", "refused", Form::count},
            {"overwritten", "overwritten", Form::count},
            {"missing_records", "missing", Form::count},
            {"lost_packets", "packets", Form::count},
            {"nameless_chunks", "nameless", Form::count},
            {"not_stored_chunks", "not stored", Form::count},
            {"not_stored_records", "records", Form::count}};
}

Findings findings(const Asked& asked, std::span<const Answer> answers) {
    const GapsByRun gaps = gaps_of(answers[1], answers[2]);
    Listing listing{.name = "losses", .views = views(), .rows = {}};
    Losses sum{};
    std::size_t lossy = 0;
    const std::vector<RunRow> runs = runs_of(answers[0]);
    for (const RunRow& run : runs) {
        const auto found = gaps.find(run.name);
        const Losses losses = losses_of(run, found != gaps.end() ? found->second : Gaps());
        if (std::ranges::all_of(losses, [](std::uint64_t count) { return count == 0; })) {
            continue;
        }
        for (std::size_t i = 0; i < kSources; ++i) {
            sum[i] += losses[i];
        }
        listing.cut = asked.limit != 0 && lossy++ >= asked.limit;
        if (!listing.cut) {
            std::vector<Field>& fields = listing.rows.emplace_back();
            fields = {run.name.site, run.name.node, run.name.boot, run.started_s};
            std::ranges::transform(losses, std::back_inserter(fields),
                                   [](std::uint64_t count) { return field_of(count); });
        }
    }
    Listing total{.name = "sum",
                  .views = {{"runs", "runs", Form::count}, {"lossy_runs", "lossy", Form::count}},
                  .rows = {{field_of(runs.size()), field_of(lossy)}}};
    const std::vector<View> all = views();
    total.views.insert(total.views.end(), all.begin() + 4, all.end());
    std::ranges::transform(sum, std::back_inserter(total.rows.front()),
                           [](std::uint64_t count) { return field_of(count); });
    return {.listings = {std::move(listing), std::move(total)}, .lines = {}};
}

} // namespace

const Question kLosses = {.name = "losses",
                          .meaning = "where records are missing, and who lost them: tracer, network, or the way to "
                                     "the store",
                          .statements = statements,
                          .findings = findings};

} // namespace host::fleet::questions
