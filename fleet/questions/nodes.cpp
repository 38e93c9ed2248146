// SPDX-License-Identifier: MIT
// nodes lists the nodes, what runs there, and how much of it is stored. losses lists the runs of which records are
// missing, and where they were lost: in the tracer, in the network, or between the recorder and the store.
#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/runs.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace host::fleet::questions {

namespace {

struct Node {
    RunRow latest;
    std::int64_t first_s = 0;
    std::uint64_t runs = 0;
    std::uint64_t not_complete = 0;
    std::uint64_t not_ended = 0;
    std::uint64_t stored_chunks = 0;
    std::uint64_t listed_chunks = 0;
    std::uint64_t events = 0;
    std::uint64_t lost = 0;
};

void add(Node& node, const RunRow& run) {
    node.first_s = node.runs == 0 ? run.started_s : std::min(node.first_s, run.started_s);
    node.latest = node.runs == 0 || run.started_s >= node.latest.started_s ? run : node.latest;
    ++node.runs;
    node.not_ended += run.ended ? 0 : 1;
    node.not_complete += run.ended && !run.complete ? 1 : 0;
    node.stored_chunks += run.stored_chunks;
    node.listed_chunks += run.ended ? run.listed_chunks : run.stored_chunks;
    node.events += run.stored_events;
    node.lost += run.lost();
}

std::string state_of(const Node& node) {
    std::string state;
    if (node.not_complete != 0) {
        state = fmt::format("{} not complete", node.not_complete);
    }
    if (node.not_ended != 0) {
        state += fmt::format("{}{} not ended", state.empty() ? "" : ", ", node.not_ended);
    }
    return state.empty() ? "complete" : state;
}

std::vector<std::string> nodes_statements(const Asked& asked, const Database& database) {
    return {runs_statement(asked.only, database)};
}

Findings nodes_findings(const Asked& asked, std::span<const Answer> answers) {
    std::map<std::pair<std::string, std::string>, Node> nodes;
    for (const RunRow& run : runs_of(answers[0])) {
        add(nodes[{run.name.site, run.name.node}], run);
    }
    Listing listing{.name = "nodes",
                    .views = {{"site", "site"},
                              {"node", "node"},
                              {"runs", "runs", Form::count},
                              {"first_s", "first start", Form::moment},
                              {"last_s", "last start", Form::moment},
                              {"application", "application"},
                              {"kernel", "kernel"},
                              {"stored_chunks", "stored", Form::count},
                              {"listed_chunks", "chunks", Form::count},
                              {"events", "events", Form::count},
                              {"lost", "lost", Form::count},
                              {"not_complete", "", Form::count, Shown::json},
                              {"not_ended", "", Form::count, Shown::json},
                              {"state", "state"}},
                    .rows = {}};
    for (const auto& [name, node] : nodes) {
        if (listing.is_full(asked.limit)) {
            break;
        }
        listing.rows.push_back({name.first, name.second, field_of(node.runs), node.first_s, node.latest.started_s,
                                node.latest.application, node.latest.kernel, field_of(node.stored_chunks),
                                field_of(node.listed_chunks), field_of(node.events), field_of(node.lost),
                                field_of(node.not_complete), field_of(node.not_ended), state_of(node)});
    }
    return {.listings = {std::move(listing)}, .lines = {}};
}

} // namespace

const Question kNodes = {.name = "nodes",
                         .meaning = "which nodes there are: runs, application, kernel, what is stored, what was lost",
                         .limit = 0,
                         .statements = nodes_statements,
                         .findings = nodes_findings};

namespace {

constexpr std::size_t kSources = 8;
using Losses = std::array<std::uint64_t, kSources>;

// Returns the losses in the order of the views.
Losses losses_of(const RunRow& run, const Gaps& gaps) {
    return {run.lost_dropped(), run.lost_refused(), run.lost_overwritten(),   run.missing_records,
            run.lost_packets,   gaps.nameless,      gaps.chunks + gaps.other, gaps.records};
}

std::vector<std::string> losses_statements(const Asked& asked, const Database& database) {
    return {runs_statement(asked.only, database), gaps_statement(asked.only, database),
            nameless_statement(asked.only, database)};
}

std::vector<View> loss_views() {
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

Findings losses_findings(const Asked& asked, std::span<const Answer> answers) {
    const GapsByRun gaps = gaps_of(answers[1], answers[2]);
    Listing listing{.name = "losses", .views = loss_views(), .rows = {}};
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
        ++lossy;
        if (!listing.is_full(asked.limit)) {
            std::vector<Field>& fields = listing.rows.emplace_back();
            fields = {run.name.site, run.name.node, run.name.boot, run.started_s};
            std::ranges::transform(losses, std::back_inserter(fields),
                                   [](std::uint64_t count) { return field_of(count); });
        }
    }
    Listing total{.name = "sum",
                  .views = {{"runs", "runs", Form::count}, {"lossy_runs", "lossy", Form::count}},
                  .rows = {{field_of(runs.size()), field_of(lossy)}}};
    const std::vector<View> all = loss_views();
    total.views.insert(total.views.end(), all.begin() + 4, all.end());
    std::ranges::transform(sum, std::back_inserter(total.rows.front()),
                           [](std::uint64_t count) { return field_of(count); });
    return {.listings = {std::move(listing), std::move(total)}, .lines = {}};
}

} // namespace

const Question kLosses = {.name = "losses",
                          .meaning = "where records are missing, and who lost them: tracer, network, or the way to "
                                     "the store",
                          .statements = losses_statements,
                          .findings = losses_findings};

} // namespace host::fleet::questions
