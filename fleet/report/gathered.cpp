// SPDX-License-Identifier: MIT
#include "fleet/report/gathered.hpp"

#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/selection.hpp"
#include "fleet/server.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

namespace host::fleet::report {

std::string fleet_command(std::string_view question, const questions::Asked& asked, std::string_view more) {
    std::string command = fmt::format("remora fleet {} {}", question, text::shell_word(shown_address(asked.place)));
    const auto add = [&command](std::string_view option, const std::string& value) {
        command += value.empty() ? std::string() : fmt::format(" {} {}", option, text::shell_word(value));
    };
    const auto moment = [](const std::optional<std::int64_t>& time_s) {
        return time_s ? questions::moment_text(*time_s) : std::string();
    };
    add("--site", asked.only.site);
    add("--node", asked.only.node);
    add("--boot", asked.only.boot);
    add("--application", asked.only.application);
    add("--task", asked.only.task);
    add("--since", moment(asked.only.since_s));
    add("--until", moment(asked.only.until_s));
    return more.empty() ? command : fmt::format("{} {}", command, more);
}

Span span_around(std::int64_t release_ns, std::int64_t end_ns) {
    constexpr std::int64_t kLeastNs = 1000;
    const std::int64_t around = std::max(end_ns - release_ns, kLeastNs);
    return {.from_ns = std::max<std::int64_t>(release_ns - around, 0), .to_ns = end_ns + around};
}

std::string report_command(const std::string& archive, const Span& span) {
    return fmt::format("remora report {} --from-time {} --to {} -o worst.html", text::shell_word(archive), span.from_ns,
                       span.to_ns);
}

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

// Returns the finest bucket size with at most buckets_max buckets in the span.
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
        counts.end_s = last_s > 0 ? last_s + kMinute : counts.begin_s; // without rows both are 0 or unknown
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

namespace {

using Done = lib::Result<void, StoreFailure>;

Done read_classes(Responses& responses, const std::string& where, Database& database) {
    const auto answer = database.query(fmt::format("SELECT task, class_ns, sum(jobs) AS n_jobs FROM response_classes{} "
                                                   "GROUP BY task, class_ns ORDER BY task, class_ns",
                                                   where));
    if (!answer) {
        return answer.error();
    }
    for (const std::vector<Value>& row : answer.value().rows) {
        questions::Cells cells(row);
        ResponseClass& one = responses.classes.emplace_back();
        one.task = cells.text();
        one.class_ns = cells.count();
        one.jobs = cells.count();
        responses.of_tasks[one.task].add(one.class_ns, one.jobs);
    }
    return {};
}

Done read_nodes(Responses& responses, const std::string& where, std::uint64_t rows_max, Database& database) {
    const std::string groups = fmt::format("SELECT site, node, task, class_ns, sum(jobs) AS n_jobs FROM "
                                           "response_classes{} GROUP BY site, node, task, class_ns",
                                           where);
    const auto number = database.query(fmt::format("SELECT count(*) AS n FROM ({})", groups));
    if (!number) {
        return number.error();
    }
    responses.without_nodes =
        !number.value().rows.empty() && questions::Cells(number.value().rows.front()).count() > rows_max;
    if (responses.without_nodes) {
        return {};
    }
    const auto answer = database.query(groups);
    if (!answer) {
        return answer.error();
    }
    for (const std::vector<Value>& row : answer.value().rows) {
        questions::Cells cells(row);
        std::string site = cells.text();
        std::string node = cells.text();
        std::string task = cells.text();
        const std::uint64_t class_ns = cells.count();
        responses.of_nodes[{std::move(site), std::move(node), std::move(task)}].add(class_ns, cells.count());
    }
    return {};
}

// nodes_max: the most rows that are read for of_nodes.
lib::Result<Responses, StoreFailure> responses_of(const questions::Selection& selection, Database& database,
                                                  std::uint64_t nodes_max) {
    const std::string where = questions::where(selection, database, {.has_task = true});
    Responses responses;
    if (auto read = read_classes(responses, where, database); !read) {
        return read.error();
    }
    if (auto read = read_nodes(responses, where, nodes_max, database); !read) {
        return read.error();
    }
    return responses;
}

using Seen = std::set<std::tuple<std::string, std::string, std::string, std::string, std::int64_t>>;

WorstCase case_of(const questions::ListingColumns& columns, std::size_t row) {
    WorstCase one{.site = columns.text(row, "site"),
                  .node = columns.text(row, "node"),
                  .boot = columns.text(row, "boot"),
                  .task = columns.text(row, "task"),
                  .job = columns.number(row, "job").value_or(0),
                  .time_s = columns.number(row, "time_s").value_or(0),
                  .span = std::nullopt,
                  .response_ns = columns.number(row, "response_ns").value_or(0),
                  .deadline_ns = columns.number(row, "deadline_ns"),
                  .lateness_ns = columns.number(row, "lateness_ns"),
                  .missed = columns.number(row, "missed").value_or(0) != 0,
                  .outcome = columns.text(row, "outcome")};
    const auto release = columns.number(row, "release_ns");
    const auto end = columns.number(row, "end_ns");
    if (release && end && *release >= 0 && *release <= *end) {
        one.span = span_around(*release, *end);
    }
    return one;
}

// each_max: the number of rows by response, and as many by lateness.
lib::Result<WorstCases, StoreFailure> worst_cases_of(const questions::Asked& asked, Database& database,
                                                     std::uint64_t each_max) {
    WorstCases cases;
    Seen seen;
    for (const char* const by : {"response", "lateness"}) {
        questions::Asked one = asked;
        one.by = by;
        one.limit = each_max;
        const auto found = questions::ask(questions::kWorst, one, database);
        if (!found) {
            return found.error();
        }
        const questions::Listing& listing = found.value().listings.front();
        const questions::ListingColumns columns(listing);
        for (std::size_t row = 0; row < listing.rows.size(); ++row) {
            WorstCase next = case_of(columns, row);
            if (seen.emplace(next.site, next.node, next.boot, next.task, next.job).second) {
                cases.rows.push_back(std::move(next));
            }
        }
        cases.cut = cases.cut || listing.cut;
    }
    std::ranges::stable_sort(cases.rows, std::greater{}, &WorstCase::response_ns);
    return cases;
}

} // namespace

lib::Result<Gathered, StoreFailure> gather(const questions::Asked& asked, std::int64_t made_s, Database& database,
                                           const Limits& limits) {
    Gathered gathered{.asked = asked, .made_s = made_s, .limits = limits};
    questions::Asked all = asked;
    all.limit = 0;
    all.by.clear();
    const auto take = [](auto&& result, auto& into) -> lib::Result<void, StoreFailure> {
        if (!result) {
            return result.error();
        }
        into = std::move(result.value());
        return {};
    };
    if (auto done = take(questions::ask(questions::kNodes, all, database), gathered.nodes); !done) {
        return done.error();
    }
    if (auto done = take(questions::ask(questions::kVerify, all, database), gathered.accounts); !done) {
        return done.error();
    }
    if (auto done = take(counts_of(asked.only, database, limits.counts), gathered.counts); !done) {
        return done.error();
    }
    if (auto done = take(responses_of(asked.only, database, limits.responses), gathered.responses); !done) {
        return done.error();
    }
    if (auto done = take(worst_cases_of(all, database, limits.worst), gathered.worst); !done) {
        return done.error();
    }
    return gathered;
}

} // namespace host::fleet::report
