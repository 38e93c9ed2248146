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
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

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

struct Accounts {
    std::uint64_t closed = 0;
    std::uint64_t missing = 0;
    std::uint64_t open = 0;
};

Names names_of(const Gathered& gathered) {
    Names names;
    for (const questions::Findings* const findings : {&gathered.nodes, &gathered.accounts}) {
        const questions::Listing& listing = findings->listings.front();
        const questions::ListingColumns columns(listing);
        for (std::size_t row = 0; row < listing.rows.size(); ++row) {
            names.nodes.add({columns.text(row, "site"), columns.text(row, "node")});
        }
    }
    for (const Count& count : gathered.counts.rows) {
        names.nodes.add({count.site, count.node});
        names.tasks.add(count.task);
    }
    for (const WorstCase& one : gathered.worst.rows) {
        names.nodes.add({one.site, one.node});
        names.tasks.add(one.task);
    }
    for (const auto& [task, classes] : gathered.responses.of_tasks) {
        names.tasks.add(task);
    }
    for (const auto& [key, classes] : gathered.responses.of_nodes) {
        names.nodes.add({std::get<0>(key), std::get<1>(key)});
    }
    names.nodes.count();
    names.tasks.count();
    return names;
}

// value: returns that of a row.
template <typename Rows, typename Value>
void add_column(Json& json, std::string_view key, const Rows& rows, const Value& value) {
    json.begin_array(key);
    for (const auto& row : rows) {
        json.value(value(row));
    }
    json.end_array();
}

void add_names(Json& json, const Names& names) {
    json.begin_object("names");
    add_column(json, "site", names.nodes.all(),
               [](const auto& entry) { return text::made_printable(entry.first.first); });
    add_column(json, "node", names.nodes.all(),
               [](const auto& entry) { return text::made_printable(entry.first.second); });
    add_column(json, "task", names.tasks.all(), [](const auto& entry) { return text::made_printable(entry.first); });
    json.end_object();
}

void add_nodes(Json& json, const Gathered& gathered, const Names& names) {
    const questions::Listing& listing = gathered.nodes.listings.front();
    const questions::ListingColumns columns(listing);
    std::vector<std::size_t> rows(listing.rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        rows[row] = row;
    }
    json.begin_object("nodes");
    add_column(json, "node", rows, [&](std::size_t row) {
        return names.nodes.of({columns.text(row, "site"), columns.text(row, "node")});
    });
    for (const std::string_view key : {"runs", "first_s", "last_s", "events", "lost"}) {
        add_column(json, key, rows, [&](std::size_t row) { return columns.number(row, key); });
    }
    for (const std::string_view key : {"application", "kernel", "state"}) {
        add_column(json, key, rows, [&](std::size_t row) { return text::made_printable(columns.text(row, key)); });
    }
    json.end_object();
}

void add_runs(Json& json, const Gathered& gathered, const Names& names) {
    const questions::Listing& listing = gathered.accounts.listings.front();
    const questions::ListingColumns columns(listing);
    std::map<std::size_t, Accounts> accounts;
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < listing.rows.size(); ++row) {
        Accounts& of = accounts[names.nodes.of({columns.text(row, "site"), columns.text(row, "node")})];
        const std::string state = columns.text(row, "state");
        ++(state == "closed" ? of.closed : state == "missing" ? of.missing : of.open);
        if (rows.size() < gathered.limits.runs) {
            rows.push_back(row);
        }
    }
    json.begin_object("accounts");
    add_column(json, "node", accounts, [](const auto& entry) { return entry.first; });
    add_column(json, "closed", accounts, [](const auto& entry) { return entry.second.closed; });
    add_column(json, "missing", accounts, [](const auto& entry) { return entry.second.missing; });
    add_column(json, "open", accounts, [](const auto& entry) { return entry.second.open; });
    json.end_object();
    json.begin_object("runs");
    add_column(json, "node", rows, [&](std::size_t row) {
        return names.nodes.of({columns.text(row, "site"), columns.text(row, "node")});
    });
    for (const std::string_view key :
         {"started_s", "listed_records", "stored_records", "listed_chunks", "stored_chunks"}) {
        add_column(json, key, rows, [&](std::size_t row) { return columns.number(row, key); });
    }
    for (const std::string_view key : {"boot", "state", "why"}) {
        add_column(json, key, rows, [&](std::size_t row) { return text::made_printable(columns.text(row, key)); });
    }
    json.end_object();
}

void add_counts(Json& json, const Counts& counts, const Names& names) {
    json.begin_object("counts");
    json.member("bucket_s", counts.bucket_s);
    json.member("begin_s", counts.begin_s);
    json.member("end_s", counts.end_s);
    add_column(json, "node", counts.rows, [&](const Count& count) { return names.nodes.of({count.site, count.node}); });
    add_column(json, "task", counts.rows, [&](const Count& count) { return names.tasks.of(count.task); });
    add_column(json, "bucket", counts.rows,
               [&](const Count& count) { return (count.begin_s - counts.begin_s) / counts.bucket_s; });
    add_column(json, "jobs", counts.rows, [](const Count& count) { return count.jobs; });
    add_column(json, "missed", counts.rows, [](const Count& count) { return count.missed; });
    add_column(json, "longest_ns", counts.rows, [](const Count& count) { return count.longest_ns; });
    json.end_object();
}

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kPercentiles = {
    {{"p50_ns", 500}, {"p99_ns", 990}, {"p999_ns", 999}}};

void add_responses(Json& json, const Responses& responses, const Names& names) {
    json.begin_object("classes");
    add_column(json, "task", responses.classes, [&](const ResponseClass& one) { return names.tasks.of(one.task); });
    add_column(json, "class_ns", responses.classes, [](const ResponseClass& one) { return one.class_ns; });
    add_column(json, "jobs", responses.classes, [](const ResponseClass& one) { return one.jobs; });
    json.end_object();
    json.begin_object("percentiles");
    add_column(json, "task", responses.of_tasks, [&](const auto& entry) { return names.tasks.of(entry.first); });
    for (const auto& [key, per_thousand] : kPercentiles) {
        add_column(json, key, responses.of_tasks,
                   [rank = per_thousand](const auto& entry) { return entry.second.percentile(rank); });
    }
    json.end_object();
    json.begin_object("node_percentiles");
    add_column(json, "node", responses.of_nodes, [&](const auto& entry) {
        return names.nodes.of({std::get<0>(entry.first), std::get<1>(entry.first)});
    });
    add_column(json, "task", responses.of_nodes,
               [&](const auto& entry) { return names.tasks.of(std::get<2>(entry.first)); });
    for (const auto& [key, per_thousand] : kPercentiles) {
        add_column(json, key, responses.of_nodes,
                   [rank = per_thousand](const auto& entry) { return entry.second.percentile(rank); });
    }
    json.end_object();
}

void add_worst(Json& json, const Gathered& gathered, const Runs& runs, const Names& names) {
    const std::vector<WorstCase>& rows = gathered.worst.rows;
    json.begin_object("worst");
    add_column(json, "node", rows, [&](const WorstCase& one) { return names.nodes.of({one.site, one.node}); });
    add_column(json, "task", rows, [&](const WorstCase& one) { return names.tasks.of(one.task); });
    add_column(json, "boot", rows, [](const WorstCase& one) { return text::made_printable(one.boot); });
    add_column(json, "job", rows, [](const WorstCase& one) { return one.job; });
    add_column(json, "time_s", rows, [](const WorstCase& one) { return one.time_s; });
    add_column(json, "response_ns", rows, [](const WorstCase& one) { return one.response_ns; });
    add_column(json, "deadline_ns", rows, [](const WorstCase& one) { return one.deadline_ns; });
    add_column(json, "lateness_ns", rows, [](const WorstCase& one) { return one.lateness_ns; });
    add_column(json, "missed", rows, [](const WorstCase& one) { return one.missed ? 1 : 0; });
    add_column(json, "outcome", rows, [](const WorstCase& one) { return text::made_printable(one.outcome); });
    add_column(json, "page", rows, [](const WorstCase& one) { return std::string_view(one.page); });
    add_column(json, "command", rows, [&](const WorstCase& one) {
        std::string session = one.session;
        if (session.empty() && !runs.preparation.empty()) {
            session = fmt::format("{}/{}/{}/{}.rpk", kFetched, one.site, one.node, one.boot);
        }
        return one.span && !session.empty() ? text::made_printable(report_command(session, *one.span)) : std::string();
    });
    json.end_object();
    json.member("directory", runs.directory);
    json.member("preparation", runs.preparation);
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
    if (counts.cut) {
        add("misses", fmt::format("Only the {} counts with the most misses are here.", counts.rows.size()),
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
    const Names names = names_of(gathered);
    json.begin_object();
    json.member("place", text::made_printable(shown_address(gathered.asked.place)));
    json.member("made_s", gathered.made_s);
    json.member("selection", text::made_printable(fleet_command("report", gathered.asked, "")));
    add_names(json, names);
    add_nodes(json, gathered, names);
    add_runs(json, gathered, names);
    add_counts(json, gathered.counts, names);
    add_responses(json, gathered.responses, names);
    add_worst(json, gathered, runs, names);
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
