// SPDX-License-Identifier: MIT
// Views for what people ask first, over the tables of tables.hpp; in `remora sql` and in exported files alike.
#pragma once

#include <string_view>

namespace host::sql {

inline constexpr std::string_view kViews =
    "CREATE VIEW running AS SELECT task, context, cpu, begin_ns, end_ns, duration_ns, reason FROM intervals "
    "WHERE state = 'running';"
    "CREATE VIEW blocked AS SELECT task, context, begin_ns, end_ns, duration_ns, reason FROM intervals "
    "WHERE state = 'blocked';"
    "CREATE VIEW mutexes AS SELECT id, name FROM names WHERE kind = 'mutex';"
    "CREATE VIEW responses AS SELECT task, count(*) AS jobs, min(response_ns) AS least_ns, "
    "CAST(avg(response_ns) AS INTEGER) AS mean_ns, max(response_ns) AS greatest_ns, sum(missed) AS missed "
    "FROM jobs WHERE outcome = 'completed' GROUP BY task;";

} // namespace host::sql
