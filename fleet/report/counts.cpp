// SPDX-License-Identifier: MIT
#include "fleet/report/counts.hpp"

#include "fleet/questions/cells.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace host::fleet::report {

namespace {

constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 86'400;
constexpr std::array<std::int64_t, 9> kBuckets = {kMinute, 5 * kMinute, 15 * kMinute, kHour,     4 * kHour,
                                                  kDay,    7 * kDay,    28 * kDay,    364 * kDay};

std::string where_of(const questions::Selection& selection, const Database& database) {
    return questions::where(selection, database, {.time = "minute_s", .has_task = true});
}

std::int64_t begin_of(std::int64_t time_s, std::int64_t bucket_s) {
    return time_s - time_s % bucket_s;
}

// The finest size of which not more than so many are in the span.
std::size_t first_size(const Counts& counts, std::int64_t buckets_max) {
    std::size_t size = 0;
    while (size + 1 < kBuckets.size() && (counts.end_s - counts.begin_s) / kBuckets.at(size) >= buckets_max) {
        ++size;
    }
    return size;
}

lib::Result<std::uint64_t, StoreFailure> rows_at(std::int64_t bucket_s, const std::string& where, Database& database) {
    const auto answer =
        database.query(fmt::format("SELECT count(*) AS n FROM (SELECT site, node, task, minute_s - minute_s % {0} AS "
                                   "begin_s FROM task_minutes{1} GROUP BY site, node, task, minute_s - minute_s % {0})",
                                   bucket_s, where));
    if (!answer) {
        return answer.error();
    }
    return answer.value().rows.empty() ? 0 : questions::Cells(answer.value().rows.front()).count();
}

lib::Result<void, StoreFailure> find_span(Counts& counts, const std::string& where, Database& database) {
    const auto answer = database.query(
        fmt::format("SELECT min(minute_s) AS first_s, max(minute_s) AS last_s FROM task_minutes{}", where));
    if (!answer) {
        return answer.error();
    }
    if (!answer.value().rows.empty()) {
        questions::Cells cells(answer.value().rows.front());
        counts.begin_s = cells.number();
        const std::int64_t last_s = cells.number();
        counts.end_s = last_s > 0 ? last_s + kMinute : counts.begin_s; // of no rows both are 0, or not known
    }
    return {};
}

lib::Result<void, StoreFailure> read_rows(Counts& counts, const std::string& where, std::uint64_t rows_max,
                                          Database& database) {
    const auto answer = database.query(
        fmt::format("SELECT site, node, task, minute_s - minute_s % {0} AS begin_s, sum(jobs) AS n_jobs, sum(missed) "
                    "AS n_missed, max(worst_ns) AS longest FROM task_minutes{1} GROUP BY site, node, task, minute_s - "
                    "minute_s % {0} ORDER BY n_missed DESC, longest DESC, site, node, task, begin_s{2}",
                    counts.bucket_s, where, questions::limit_text(rows_max)));
    if (!answer) {
        return answer.error();
    }
    counts.cut = answer.value().rows.size() > rows_max;
    for (const std::vector<Value>& row : answer.value().rows) {
        if (counts.rows.size() == rows_max) {
            break;
        }
        questions::Cells cells(row);
        Count& count = counts.rows.emplace_back();
        count.site = cells.text();
        count.node = cells.text();
        count.task = cells.text();
        count.begin_s = cells.number();
        count.jobs = cells.count();
        count.missed = cells.count();
        count.longest_ns = cells.count();
    }
    std::ranges::sort(counts.rows, {},
                      [](const Count& count) { return std::tie(count.site, count.node, count.task, count.begin_s); });
    return {};
}

} // namespace

lib::Result<Counts, StoreFailure> counts_of(const questions::Selection& selection, Database& database,
                                            const CountsMax& max) {
    const std::string where = where_of(selection, database);
    Counts counts;
    if (auto found = find_span(counts, where, database); !found) {
        return found.error();
    }
    if (counts.begin_s == counts.end_s) {
        return counts;
    }
    std::size_t size = first_size(counts, max.buckets);
    for (; size + 1 < kBuckets.size(); ++size) {
        const auto rows = rows_at(kBuckets.at(size), where, database);
        if (!rows) {
            return rows.error();
        }
        if (rows.value() <= max.rows) {
            break;
        }
    }
    counts.bucket_s = kBuckets.at(size);
    counts.begin_s = begin_of(counts.begin_s, counts.bucket_s);
    counts.end_s = std::max(begin_of(counts.end_s - 1, counts.bucket_s) + counts.bucket_s, counts.begin_s);
    if (auto read = read_rows(counts, where, max.rows, database); !read) {
        return read.error();
    }
    return counts;
}

} // namespace host::fleet::report
