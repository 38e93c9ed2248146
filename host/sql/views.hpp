// SPDX-License-Identifier: MIT
// Views for what people ask first, over the tables of tables.hpp; in `remora sql` and in exported files alike. Tasks
// are grouped by context and name: two tasks of one name remain two, and so do two tasks that had a context in turn.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace host::sql {

struct ViewRow {
    std::string_view name;
    std::string_view query;
};

inline constexpr std::array kViewRows = {
    ViewRow{"running", "SELECT task, context, cpu, begin_ns, end_ns, duration_ns, reason FROM intervals "
                       "WHERE state = 'running'"},
    ViewRow{"blocked", "SELECT task, context, begin_ns, end_ns, duration_ns, reason FROM intervals "
                       "WHERE state = 'blocked'"},
    ViewRow{"mutexes", "SELECT id, name FROM names WHERE kind = 'mutex'"},
    ViewRow{"responses",
            "SELECT task, context, sum(done) AS jobs, min(ns) AS least_ns, CAST(avg(ns) AS INTEGER) AS mean_ns, "
            "max(ns) AS greatest_ns, sum(missed) AS missed, min(ticks) AS least_ticks, "
            "sum(ticks) / count(ticks) AS mean_ticks, max(ticks) AS greatest_ticks FROM (SELECT task, context, missed, "
            "outcome = 'completed' AS done, iif(outcome = 'completed', response_ns, NULL) AS ns, "
            "iif(outcome = 'completed', response_ticks, NULL) AS ticks FROM jobs) "
            "GROUP BY task, context HAVING sum(done) > 0"},
    // For a mutex; the holder at the begin, NULL if it is not recorded. When the mutex changes hands, the wait ends,
    // and if it continues another one begins.
    ViewRow{"blocking", "SELECT task, context, substr(reason, 7) AS mutex, holder, holder_context, begin_ns, end_ns, "
                        "duration_ns FROM intervals WHERE state = 'blocked' AND substr(reason, 1, 6) = 'mutex '"},
    // A row for each missed job and each other task that ran between its release and its end (if that is not known: its
    // deadline); one row with NULL if none did. No interval is longer than the longest one: an index of begins finds
    // all.
    ViewRow{
        "misses",
        "SELECT jobs.task, jobs.context, job, release_ns, deadline_ns, jobs.end_ns, "
        "jobs.end_ns - deadline_ns AS late_ns, outcome, other.task AS ran, other.context AS ran_context, other.cpu, "
        "sum(min(other.end_ns, ifnull(jobs.end_ns, deadline_ns)) - max(other.begin_ns, release_ns)) AS ran_ns "
        "FROM jobs LEFT JOIN intervals AS other ON other.state = 'running' AND other.context != jobs.context "
        "AND other.begin_ns < ifnull(jobs.end_ns, deadline_ns) AND other.end_ns > release_ns "
        "AND other.begin_ns >= release_ns - (SELECT max(duration_ns) FROM intervals WHERE state = 'running') "
        "WHERE missed = 1 GROUP BY jobs.rowid, other.task, other.context, other.cpu"},
};

[[nodiscard]] inline std::string create_views() {
    std::string text;
    for (const ViewRow& view : kViewRows) {
        text += std::string("CREATE VIEW ").append(view.name).append(" AS ").append(view.query) + ';';
    }
    return text;
}

} // namespace host::sql
