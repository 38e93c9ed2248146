// SPDX-License-Identifier: MIT
// Puts the page of a fleet together, as host/report/frame.cpp does with that of a run; both begin with the same
// scripts. The block has tables as columns, in which nodes and tasks are numbers.
#include "fleet/report/page.hpp"

#include "fleet/questions/findings.hpp"
#include "fleet/server.hpp"
#include "host/report/frame.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

asm(R"(
    .pushsection .rodata
fleet_page_begin:
    .incbin "fleet/report/page/page.html"
fleet_page_end:
fleet_style_begin:
    .incbin "fleet/report/page/page.css"
fleet_style_end:
fleet_script_begin:
    .incbin "host/report/page/common.js"
    .incbin "fleet/report/page/words.js"
    .incbin "fleet/report/page/data.js"
    .incbin "fleet/report/page/filter.js"
    .incbin "fleet/report/page/table.js"
    .incbin "fleet/report/page/head.js"
    .incbin "fleet/report/page/chart.js"
    .incbin "fleet/report/page/nodes.js"
    .incbin "fleet/report/page/tasks.js"
    .incbin "fleet/report/page/worst.js"
    .incbin "fleet/report/page/runs.js"
    .incbin "fleet/report/page/main.js"
fleet_script_end:
    .popsection
)");
// NOLINTBEGIN(readability-identifier-naming): labels of the assembler
extern "C" {
extern const char fleet_page_begin[];
extern const char fleet_page_end[];
extern const char fleet_style_begin[];
extern const char fleet_style_end[];
extern const char fleet_script_begin[];
extern const char fleet_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::fleet::report {

namespace {

using Json = text::JsonText;
using questions::Field;
using questions::Listing;
using questions::ListingColumns;
using NodeKey = std::pair<std::string, std::string>; // site, node

// Numbers names by their position in the order of all names; rows have the numbers.
template <typename Name>
class Numbers {
  public:
    void add(const Name& name) { m_numbers.emplace(name, 0); }

    void count() {
        std::size_t next = 0;
        for (auto& [name, number] : m_numbers) {
            number = next++;
        }
    }

    [[nodiscard]] std::size_t of(const Name& name) const {
        const auto found = m_numbers.find(name);
        return found != m_numbers.end() ? found->second : m_numbers.size();
    }

    [[nodiscard]] const std::map<Name, std::size_t>& all() const { return m_numbers; }

  private:
    std::map<Name, std::size_t> m_numbers;
};

struct Names {
    Numbers<NodeKey> nodes;
    Numbers<std::string> tasks;
};

NodeKey node_of(const ListingColumns& columns, std::size_t row) {
    return {columns.text(row, "site"), columns.text(row, "node")};
}

Names names_of(std::span<const Listing> tables) {
    Names names;
    for (const Listing& table : tables) {
        const ListingColumns columns(table);
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            if (columns.has("node")) {
                names.nodes.add(node_of(columns, row));
            }
            if (columns.has("task")) {
                names.tasks.add(columns.text(row, "task"));
            }
        }
    }
    names.nodes.count();
    names.tasks.count();
    return names;
}

// Writes a text without characters that would change the text around it.
void add_field(Json& json, const Field& field) {
    std::visit(
        [&json](const auto& value) {
            using Type = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<Type, std::monostate>) {
                json.value(nullptr);
            } else if constexpr (std::is_same_v<Type, std::string>) {
                json.value(text::made_printable(value));
            } else {
                json.value(value);
            }
        },
        field);
}

// Writes the columns of a table. Nodes and tasks are numbers; the site is that of the node.
void add_columns(Json& json, const Listing& table, const Names& names) {
    const ListingColumns columns(table);
    for (std::size_t column = 0; column < table.views.size(); ++column) {
        const std::string_view key = table.views[column].key;
        if (key == "site") {
            continue;
        }
        json.begin_array(key);
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            if (key == "node") {
                json.value(names.nodes.of(node_of(columns, row)));
            } else if (key == "task") {
                json.value(names.tasks.of(columns.text(row, key)));
            } else {
                add_field(json, table.rows[row][column]);
            }
        }
        json.end_array();
    }
}

void add_names(Json& json, const Names& names) {
    const auto add = [&json](std::string_view key, const auto& all, const auto& name_of) {
        json.begin_array(key);
        for (const auto& entry : all) {
            json.value(text::made_printable(name_of(entry.first)));
        }
        json.end_array();
    };
    json.begin_object("names");
    add("site", names.nodes.all(), [](const NodeKey& key) { return key.first; });
    add("node", names.nodes.all(), [](const NodeKey& key) { return key.second; });
    add("task", names.tasks.all(), [](const std::string& name) { return name; });
    json.end_object();
}

// Returns the first rows of a listing in these columns.
Listing selected(std::string_view name, const Listing& from, const std::vector<std::string_view>& keys,
                 std::size_t rows_max = std::numeric_limits<std::size_t>::max()) {
    Listing table = questions::listing_of(name, keys);
    std::vector<std::size_t> places;
    for (const std::string_view key : keys) {
        places.push_back(
            static_cast<std::size_t>(std::ranges::find(from.views, key, &questions::View::key) - from.views.begin()));
    }
    for (std::size_t row = 0; row < std::min(rows_max, from.rows.size()); ++row) {
        std::vector<Field>& fields = table.rows.emplace_back();
        for (const std::size_t place : places) {
            fields.push_back(from.rows[row][place]);
        }
    }
    return table;
}

// Returns how many runs of each node are closed, missing or open.
Listing accounts_of(const Listing& runs) {
    constexpr auto kStates = std::to_array<std::string_view>({"closed", "missing", "open"});
    const ListingColumns columns(runs);
    std::map<NodeKey, std::array<std::int64_t, kStates.size()>> accounts;
    for (std::size_t row = 0; row < runs.rows.size(); ++row) {
        const auto* const state = std::ranges::find(kStates, columns.text(row, "state"));
        ++accounts[node_of(columns, row)].at(static_cast<std::size_t>(state - kStates.begin()));
    }
    Listing table = questions::listing_of("accounts", {"site", "node", kStates[0], kStates[1], kStates[2]});
    for (const auto& [node, counts] : accounts) {
        table.rows.push_back({node.first, node.second, counts[0], counts[1], counts[2]});
    }
    return table;
}

Listing worst_of(const Gathered& gathered, const Runs& runs) {
    Listing table =
        questions::listing_of("worst", {"site", "node", "task", "boot", "job", "time_s", "response_ns", "deadline_ns",
                                        "lateness_ns", "missed", "outcome", "page", "command"});
    for (const WorstCase& one : gathered.worst.rows) {
        std::string session = one.session;
        if (session.empty() && !runs.preparation.empty()) {
            session = fmt::format("{}/{}/{}/{}.rpk", kFetched, one.site, one.node, one.boot);
        }
        table.rows.push_back({one.site, one.node, one.task, one.boot, one.job, one.time_s, one.response_ns,
                              questions::field_of(one.deadline_ns), questions::field_of(one.lateness_ns),
                              std::int64_t{one.missed}, one.outcome, one.page,
                              one.span && !session.empty() ? report_command(session, *one.span) : std::string()});
    }
    return table;
}

// Adds what the page leaves out, in which section, and the command that shows it.
void add_cuts(Json& json, const Gathered& gathered) {
    const auto add = [&json](std::string_view where, const std::string& text, const std::string& command) {
        json.begin_object();
        json.member("where", where);
        json.member("text", text);
        json.member("command", text::made_printable(command));
        json.end_object();
    };
    const questions::Asked& asked = gathered.asked;
    const Counts& counts = gathered.counts;
    json.begin_array("cuts");
    if (counts.listing.cut) {
        add("misses", fmt::format("Only the {} counts with the most misses are here.", counts.listing.rows.size()),
            fleet_command("misses", asked, "--limit 0"));
    }
    if (counts.bucket_s != 60) {
        add("misses", "Of each minute:", fleet_command("misses", asked, "--by minute --limit 0"));
    }
    if (gathered.responses.without_nodes) {
        add("tasks", "Percentiles of single nodes are too many for a page. Of one node against another:",
            fleet_command("compare", asked, "node=NODE node=OTHER"));
    }
    if (gathered.worst.cut) {
        add("worst",
            fmt::format("The {0} longest responses and the {0} greatest latenesses. More:", gathered.limits.worst),
            fleet_command("worst", asked, "--limit 0"));
    }
    const std::size_t runs = gathered.accounts.listings.front().rows.size();
    if (runs > gathered.limits.runs) {
        add("runs", fmt::format("{} of {} runs are here. All:", gathered.limits.runs, runs),
            fleet_command("verify", asked, "--limit 0"));
    }
    json.end_array();
}

} // namespace

std::vector<std::byte> contents(const Gathered& gathered, const Runs& runs) {
    fmt::memory_buffer buffer;
    Json json(buffer);
    const Listing& accounts = gathered.accounts.listings.front();
    const Counts& counts = gathered.counts;
    const std::vector<Listing> tables = {
        selected("nodes", gathered.nodes.listings.front(),
                 {"site", "node", "runs", "first_s", "last_s", "events", "lost", "application", "kernel", "state"}),
        accounts_of(accounts),
        selected("runs", accounts,
                 {"site", "node", "started_s", "listed_records", "stored_records", "listed_chunks", "stored_chunks",
                  "boot", "state", "why"},
                 gathered.limits.runs),
        counts.listing,
        gathered.responses.classes,
        gathered.responses.of_tasks,
        gathered.responses.of_nodes,
        worst_of(gathered, runs),
    };
    const Names names = names_of(tables);
    json.begin_object();
    json.member("place", text::made_printable(shown_address(gathered.asked.place)));
    json.member("made_s", gathered.made_s);
    json.member("selection", text::made_printable(fleet_command("report", gathered.asked, "")));
    add_names(json, names);
    for (const Listing& table : tables) {
        json.begin_object(table.name);
        if (table.name == counts.listing.name) {
            json.member("bucket_s", counts.bucket_s);
            json.member("begin_s", counts.begin_s);
            json.member("end_s", counts.end_s);
        }
        add_columns(json, table, names);
        json.end_object();
    }
    json.member("directory", runs.directory);
    json.member("preparation", runs.preparation);
    add_cuts(json, gathered);
    json.end_object();
    const auto bytes = std::as_bytes(std::span(buffer.data(), buffer.size()));
    return {bytes.begin(), bytes.end()};
}

std::string page(const std::vector<std::byte>& contents) {
    const host::report::Frame frame{.page = {fleet_page_begin, fleet_page_end},
                                    .style = {fleet_style_begin, fleet_style_end},
                                    .script = {fleet_script_begin, fleet_script_end}};
    return host::report::framed(frame, host::report::policy_of(frame), host::report::packed_block("fleet", contents));
}

} // namespace host::fleet::report
