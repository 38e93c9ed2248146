// SPDX-License-Identifier: MIT
// misses counts the jobs that missed their deadline, for each task on each node, or over time. worst lists the jobs
// with the longest responses of all nodes, and how to look at them.
#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/runs.hpp"
#include "fleet/questions/selection.hpp"
#include "fleet/server.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace host::fleet::questions {

namespace {

struct Grouping {
    std::string_view by;
    std::string_view columns; // of the groups, in SQL
    std::string_view order;
    std::array<View, 3> views;
    std::size_t count = 1; // of the views
};

constexpr std::string_view kMost = "n_missed DESC, longest DESC, ";
constexpr View kTime{"time_s", "from", Form::moment};

constexpr auto kGroupings = std::to_array<Grouping>({
    {"node-task", "site, node, task", "site, node, task", {{{"site", "site"}, {"node", "node"}, {"task", "task"}}}, 3},
    {"node", "site, node", "site, node", {{{"site", "site"}, {"node", "node"}}}, 2},
    {"task", "task", "task", {{{"task", "task"}}}, 1},
    {"minute", "minute_s", "", {{kTime}}, 1},
    {"hour", "minute_s - minute_s % 3600", "", {{kTime}}, 1},
    {"day", "minute_s - minute_s % 86400", "", {{kTime}}, 1},
});

const Grouping& grouping_of(const Asked& asked) {
    const std::string_view by = by_of(kMisses, asked);
    const auto* const found = std::ranges::find(kGroupings, by, &Grouping::by);
    ASSERT(found != kGroupings.end());
    return *found;
}

bool is_by_application(const Asked& asked) {
    return asked.by == "application";
}

// The table `nodes` has the application of each run.
std::string by_application(const Asked& asked, const Database& database) {
    return fmt::format(
        "SELECT name, sum(n) AS n_jobs, sum(late) AS n_missed, max(worst) AS longest FROM (SELECT site, node, boot, "
        "max(application) AS name, sum(jobs) AS n, sum(missed) AS late, max(worst_ns) AS worst FROM (SELECT site, "
        "node, boot, application, 0 AS jobs, 0 AS missed, NULL AS worst_ns FROM nodes{} UNION ALL SELECT site, node, "
        "boot, '', sum(jobs), sum(missed), max(worst_ns) FROM task_minutes{} GROUP BY site, node, boot) GROUP BY "
        "site, node, boot) GROUP BY name HAVING sum(n) > 0 ORDER BY {}name{}",
        where({.site = asked.only.site,
               .node = asked.only.node,
               .boot = asked.only.boot,
               .application = asked.only.application},
              database, {.has_application = true}),
        where(asked.only, database, {.time = "minute_s", .has_task = true}), kMost, limit_text(asked.limit));
}

std::vector<std::string> misses_statements(const Asked& asked, const Database& database) {
    if (is_by_application(asked)) {
        return {by_application(asked, database)};
    }
    const Grouping& grouping = grouping_of(asked);
    const bool over_time = grouping.order.empty();
    return {fmt::format("SELECT {}, sum(jobs) AS n_jobs, sum(missed) AS n_missed, max(worst_ns) AS longest FROM "
                        "task_minutes{} GROUP BY {} ORDER BY {}{}{}",
                        over_time ? fmt::format("{} AS begin_s", grouping.columns) : std::string(grouping.columns),
                        where(asked.only, database, {.time = "minute_s", .has_task = true}), grouping.columns,
                        over_time ? "begin_s DESC" : kMost, grouping.order, limit_text(asked.limit))};
}

Findings misses_findings(const Asked& asked, std::span<const Answer> answers) {
    Listing listing{.name = "misses", .views = {}, .rows = {}};
    if (is_by_application(asked)) {
        listing.views = {{"application", "application"}};
    } else {
        const Grouping& grouping = grouping_of(asked);
        listing.views.assign(grouping.views.begin(),
                             grouping.views.begin() + static_cast<std::ptrdiff_t>(grouping.count));
    }
    const std::size_t names = listing.views.size();
    const bool over_time = listing.views.front().form == Form::moment;
    listing.views.insert(listing.views.end(), {{"jobs", "jobs", Form::count},
                                               {"missed", "missed", Form::count},
                                               {"missed_share", "share", Form::share},
                                               {"worst_ns", "longest response", Form::duration}});
    for (const std::vector<Value>& row : answers[0].rows) {
        if (listing.is_full(asked.limit)) {
            break;
        }
        Cells cells(row);
        std::vector<Field>& fields = listing.rows.emplace_back();
        for (std::size_t i = 0; i < names; ++i) {
            fields.push_back(over_time ? Field(cells.number()) : Field(cells.text()));
        }
        const std::uint64_t jobs = cells.count();
        const std::uint64_t missed = cells.count();
        fields.insert(fields.end(),
                      {field_of(jobs), field_of(missed), share_of(missed, jobs), field_of(cells.optional())});
    }
    if (over_time) {
        std::ranges::reverse(listing.rows); // the latest were selected
    }
    return {.listings = {std::move(listing)}, .lines = {}};
}

} // namespace

const Question kMisses = {.name = "misses",
                          .meaning = "how many jobs missed their deadline: of each task on each node, or over time",
                          .by = "node-task node task application minute hour day",
                          .statements = misses_statements,
                          .findings = misses_findings};

namespace {

// This span of the trace is shown before and after a job.
constexpr std::int64_t kAroundNs = 1'000'000;

std::vector<std::string> worst_statements(const Asked& asked, const Database& database) {
    const bool by_lateness = by_of(kWorst, asked) == "lateness";
    return {fmt::format(
        "SELECT site, node, boot, task, job, time_s, release_ns, end_ns, deadline_ns, response_ns, lateness_ns, "
        "missed, outcome FROM worst_jobs{} ORDER BY {} DESC, site, node, boot, task, job{}",
        where(asked.only, database,
              {.time = "time_s", .has_task = true, .more = by_lateness ? "lateness_ns IS NOT NULL" : ""}),
        by_lateness ? "lateness_ns" : "response_ns", limit_text(asked.limit))};
}

struct Job {
    RunName run;
    std::string task;
    std::int64_t number = 0;
    std::optional<std::int64_t> release_ns;
    std::optional<std::int64_t> end_ns;
};

// Returns the packed session in a directory store; for a server, in the directory to which it is loaded first.
std::string archive_of(const Asked& asked, const RunName& run) {
    const std::string directory = is_server(asked.place) ? "runs" : asked.place;
    return text::shell_word(
        fmt::format("{}{}{}/{}/{}.rpk", directory, directory.ends_with('/') ? "" : "/", run.site, run.node, run.boot));
}

std::vector<std::string> commands(const Asked& asked, const Job& job) {
    std::vector<std::string> lines;
    if (is_server(asked.place)) {
        lines.emplace_back("remora load --from nats://HOST --to runs --until-empty");
    }
    const std::string archive = archive_of(asked, job.run);
    lines.push_back(fmt::format("remora why {} --task {} --job {}", archive, text::shell_word(job.task), job.number));
    if (job.release_ns && job.end_ns) {
        lines.push_back(fmt::format("remora report {} --from-time {} --to {} -o worst.html", archive,
                                    std::max<std::int64_t>(*job.release_ns - kAroundNs, 0), *job.end_ns + kAroundNs));
    }
    return lines;
}

Findings worst_findings(const Asked& asked, std::span<const Answer> answers) {
    Listing listing{.name = "worst",
                    .views = {{"site", "site"},
                              {"node", "node"},
                              {"boot", "boot"},
                              {"task", "task"},
                              {"job", "job", Form::count},
                              {"time_s", "time", Form::moment},
                              {"release_ns", "", Form::duration, Shown::json},
                              {"end_ns", "", Form::duration, Shown::json},
                              {"response_ns", "response", Form::duration},
                              {"deadline_ns", "deadline", Form::duration},
                              {"lateness_ns", "lateness", Form::duration},
                              {"missed", "", Form::count, Shown::json},
                              {"outcome", "outcome"}},
                    .rows = {}};
    Findings found;
    for (const std::vector<Value>& row : answers[0].rows) {
        if (listing.is_full(asked.limit)) {
            break;
        }
        Cells cells(row);
        Job job;
        job.run = run_name(cells);
        job.task = cells.text();
        job.number = cells.number();
        const std::int64_t time_s = cells.number();
        job.release_ns = cells.optional();
        job.end_ns = cells.optional();
        const auto deadline_ns = cells.optional();
        const auto relative_ns =
            deadline_ns && job.release_ns ? std::optional(*deadline_ns - *job.release_ns) : std::nullopt;
        const auto response_ns = cells.optional();
        const auto lateness_ns = cells.optional();
        const std::int64_t missed = cells.number();
        listing.rows.push_back({job.run.site, job.run.node, job.run.boot, job.task, job.number, time_s,
                                field_of(job.release_ns), field_of(job.end_ns), field_of(response_ns),
                                field_of(relative_ns), field_of(lateness_ns), missed, cells.text()});
        if (listing.rows.size() == 1) {
            found.lines.emplace_back("to look at the first of them:");
            for (const std::string& command : commands(asked, job)) {
                found.lines.push_back("  " + command);
            }
        }
    }
    found.listings.push_back(std::move(listing));
    return found;
}

} // namespace

const Question kWorst = {.name = "worst",
                         .meaning = "the longest responses of all nodes, and the commands that show why",
                         .by = "response lateness",
                         .limit = 20,
                         .statements = worst_statements,
                         .findings = worst_findings};

} // namespace host::fleet::questions
