// SPDX-License-Identifier: MIT
#include "fleet/report/gathered.hpp"

#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/response_classes.hpp"
#include "fleet/questions/selection.hpp"
#include "fleet/server.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace host::fleet::report {

std::string fleet_command(std::string_view question, const questions::Asked& asked, std::string_view more) {
    std::string command = fmt::format("remora fleet {} {}", question, text::shell_word(shown_address(asked.place)));
    for (const auto& [name, member] : questions::kSelectionTexts) {
        if (const std::string& value = asked.only.*member; !value.empty()) {
            command += fmt::format(" --{} {}", name, text::shell_word(value));
        }
    }
    for (const auto& [name, member] : questions::kSelectionTimes) {
        if (const auto& time_s = asked.only.*member) {
            command += fmt::format(" --{} {}", name, questions::moment_text(*time_s));
        }
    }
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

using questions::Field;

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

// Returns the only number of the answer, or 0.
std::uint64_t number_of(const Answer& answer) {
    return answer.rows.empty() ? 0 : Cells(answer.rows.front()).count();
}

std::uint64_t rows_at(std::int64_t bucket_s, const std::string& where, Database& database) {
    return number_of(taken(
        database.query(fmt::format("SELECT count(*) AS n FROM (SELECT site, node, task, minute_s - minute_s % {0} AS "
                                   "begin_s FROM task_minutes{1} GROUP BY site, node, task, minute_s - minute_s % {0})",
                                   bucket_s, where))));
}

void find_span(Counts& counts, const std::string& where, Database& database) {
    const Answer answer = taken(database.query(
        fmt::format("SELECT min(minute_s) AS first_s, max(minute_s) AS last_s FROM task_minutes{}", where)));
    if (!answer.rows.empty()) {
        Cells cells(answer.rows.front());
        counts.begin_s = cells.number();
        const std::int64_t last_s = cells.number();
        counts.end_s = last_s > 0 ? last_s + kMinute : counts.begin_s; // without rows both are 0 or unknown
    }
}

void read_rows(Counts& counts, const std::string& where, std::uint64_t rows_max, Database& database) {
    const Answer answer = taken(database.query(
        fmt::format("SELECT site, node, task, minute_s - minute_s % {0} AS begin_s, sum(jobs) AS n_jobs, sum(missed) "
                    "AS n_missed, max(worst_ns) AS longest FROM task_minutes{1} GROUP BY site, node, task, minute_s - "
                    "minute_s % {0} ORDER BY n_missed DESC, longest DESC, site, node, task, begin_s{2}",
                    counts.bucket_s, where, questions::limit_text(rows_max))));
    counts.listing.cut = answer.rows.size() > rows_max;
    for (const std::vector<Value>& row :
         std::span(answer.rows).first(std::min<std::size_t>(rows_max, answer.rows.size()))) {
        Cells cells(row);
        std::vector<Field>& fields = counts.listing.rows.emplace_back();
        for (int i = 0; i < 3; ++i) {
            fields.emplace_back(cells.text());
        }
        fields.emplace_back((cells.number() - counts.begin_s) / counts.bucket_s);
        for (int i = 0; i < 3; ++i) {
            fields.push_back(questions::field_of(cells.count()));
        }
    }
    std::ranges::sort(counts.listing.rows);
}

Counts read_counts(const questions::Selection& selection, Database& database, const CountsMax& max) {
    const std::string where = where_of(selection, database);
    Counts counts{
        .listing = questions::listing_of("counts", {"site", "node", "task", "bucket", "jobs", "missed", "longest_ns"})};
    find_span(counts, where, database);
    if (counts.begin_s == counts.end_s) {
        return counts;
    }
    std::size_t size = first_size(counts, max.buckets);
    while (size + 1 < kBuckets.size() && rows_at(kBuckets.at(size), where, database) > max.rows) {
        ++size;
    }
    counts.bucket_s = kBuckets.at(size);
    counts.begin_s = begin_of(counts.begin_s, counts.bucket_s);
    counts.end_s = std::max(begin_of(counts.end_s - 1, counts.bucket_s) + counts.bucket_s, counts.begin_s);
    read_rows(counts, where, max.rows, database);
    return counts;
}

} // namespace

lib::Result<Counts, StoreFailure> counts_of(const questions::Selection& selection, Database& database,
                                            const CountsMax& max) {
    return caught([&] { return read_counts(selection, database, max); });
}

namespace {

// Returns the rows with the percentiles of each group of rows with the same names. answer: names, class_ns, jobs.
questions::Listing percentiles_of(const Answer& answer, std::string_view listing, std::vector<std::string_view> names) {
    std::map<std::vector<Field>, questions::ResponseClasses> groups;
    for (const std::vector<Value>& row : answer.rows) {
        Cells cells(row);
        std::vector<Field> group;
        for (std::size_t i = 0; i < names.size(); ++i) {
            group.emplace_back(cells.text());
        }
        const std::uint64_t class_ns = cells.count();
        groups[std::move(group)].add(class_ns, cells.count());
    }
    names.insert(names.end(), {"p50_ns", "p99_ns", "p999_ns"});
    questions::Listing found = questions::listing_of(listing, names);
    for (const auto& [group, classes] : groups) {
        std::vector<Field>& fields = found.rows.emplace_back(group);
        for (const std::uint64_t per_thousand : {500U, 990U, 999U}) {
            fields.push_back(questions::field_of(classes.percentile(per_thousand)));
        }
    }
    return found;
}

// nodes_max: the most rows that are read for of_nodes.
Responses read_responses(const questions::Selection& selection, Database& database, std::uint64_t nodes_max) {
    const std::string where = questions::where(selection, database, {.has_task = true});
    Responses responses;
    const Answer classes = taken(database.query(fmt::format("SELECT task, class_ns, sum(jobs) AS n_jobs FROM "
                                                            "response_classes{} GROUP BY task, class_ns ORDER BY task, "
                                                            "class_ns",
                                                            where)));
    responses.classes = questions::listing_of("classes", {"task", "class_ns", "jobs"});
    for (const std::vector<Value>& row : classes.rows) {
        Cells cells(row);
        std::vector<Field>& fields = responses.classes.rows.emplace_back();
        fields.emplace_back(cells.text());
        fields.push_back(questions::field_of(cells.count()));
        fields.push_back(questions::field_of(cells.count()));
    }
    responses.of_tasks = percentiles_of(classes, "percentiles", {"task"});
    const std::string groups = fmt::format("SELECT site, node, task, class_ns, sum(jobs) AS n_jobs FROM "
                                           "response_classes{} GROUP BY site, node, task, class_ns",
                                           where);
    responses.without_nodes =
        number_of(taken(database.query(fmt::format("SELECT count(*) AS n FROM ({})", groups)))) > nodes_max;
    responses.of_nodes = percentiles_of(responses.without_nodes ? Answer() : taken(database.query(groups)),
                                        "node_percentiles", {"site", "node", "task"});
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
WorstCases worst_cases_of(const questions::Asked& asked, Database& database, std::uint64_t each_max) {
    WorstCases cases;
    Seen seen;
    for (const char* const by : {"response", "lateness"}) {
        questions::Asked one = asked;
        one.by = by;
        one.limit = each_max;
        const questions::Findings found = taken(questions::ask(questions::kWorst, one, database));
        const questions::Listing& listing = found.listings.front();
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
    questions::Asked all = asked;
    all.limit = 0;
    all.by.clear();
    return caught([&] {
        Gathered gathered{.asked = asked, .made_s = made_s, .limits = limits};
        gathered.nodes = taken(questions::ask(questions::kNodes, all, database));
        gathered.accounts = taken(questions::ask(questions::kVerify, all, database));
        gathered.counts = read_counts(asked.only, database, limits.counts);
        gathered.responses = read_responses(asked.only, database, limits.responses);
        gathered.worst = worst_cases_of(all, database, limits.worst);
        return gathered;
    });
}

} // namespace host::fleet::report
