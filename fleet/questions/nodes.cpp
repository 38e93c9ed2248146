// SPDX-License-Identifier: MIT
// nodes: which nodes there are, what runs there, and how much of it is stored.
#include "fleet/questions/cells.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/runs.hpp"
#include "host/text/format.hpp"

#include <algorithm>
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

std::vector<std::string> statements(const Asked& asked, const Database& database) {
    return {runs_statement(asked.only, database)};
}

Findings findings(const Asked& asked, std::span<const Answer> answers) {
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
        if (asked.limit != 0 && listing.rows.size() == asked.limit) {
            listing.cut = true;
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
                         .statements = statements,
                         .findings = findings};

} // namespace host::fleet::questions
