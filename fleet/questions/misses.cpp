// SPDX-License-Identifier: MIT
// misses: how many jobs missed their deadline, of each task on each node, or over time.
#include "fleet/questions/cells.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>

namespace host::fleet::questions {

namespace {

struct Grouping {
    std::string_view by;
    std::string_view columns; // as SQL; those of the groups
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

// `nodes` says which application a run is of.
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

std::vector<std::string> statements(const Asked& asked, const Database& database) {
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

Findings findings(const Asked& asked, std::span<const Answer> answers) {
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
        if (asked.limit != 0 && listing.rows.size() == asked.limit) {
            listing.cut = true;
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
        std::ranges::reverse(listing.rows); // the latest were asked for
    }
    return {.listings = {std::move(listing)}, .lines = {}};
}

} // namespace

const Question kMisses = {.name = "misses",
                          .meaning = "how many jobs missed their deadline: of each task on each node, or over time",
                          .by = "node-task node task application minute hour day",
                          .statements = statements,
                          .findings = findings};

} // namespace host::fleet::questions
