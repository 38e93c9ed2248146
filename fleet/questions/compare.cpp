// SPDX-License-Identifier: MIT
// compare shows the tasks of two selections of runs side by side, the largest changes first. Times select runs by their
// start, because response classes are counted for each run.
#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/response_classes.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace host::fleet::questions {

namespace {

constexpr std::array<std::uint64_t, 3> kPerThousand = {500, 990, 999};
constexpr std::size_t kFigures = kPerThousand.size() + 2; // share of misses, percentiles, longest response

// A side is one task in one selection.
struct Side {
    std::uint64_t jobs = 0;
    std::uint64_t missed = 0;
    std::optional<std::uint64_t> longest_ns;
    ResponseClasses classes;

    [[nodiscard]] std::array<std::optional<double>, kFigures> figures() const {
        std::array<std::optional<double>, kFigures> all;
        if (jobs != 0) {
            all[0] = static_cast<double>(missed) / static_cast<double>(jobs);
        }
        for (std::size_t i = 0; i < kPerThousand.size(); ++i) {
            all[i + 1] = classes.percentile(kPerThousand[i]);
        }
        all[kFigures - 1] = longest_ns;
        return all;
    }
};

struct Task {
    std::string name;
    std::array<Side, 2> sides;
    std::array<std::optional<double>, kFigures> ratios; // second to first; unknown if one of them is unknown or 0
    double change = 0;                                  // how far the ratios are from 1
};

void compute_change(Task& task) {
    const auto first = task.sides[0].figures();
    const auto second = task.sides[1].figures();
    for (std::size_t i = 0; i < kFigures; ++i) {
        if (first[i] && second[i] && *first[i] != 0 && *second[i] != 0) {
            task.ratios[i] = *second[i] / *first[i];
            task.change = std::max(task.change, std::abs(std::log(*task.ratios[i])));
        } else if (first[i] && second[i] && *first[i] != *second[i]) {
            task.change = std::numeric_limits<double>::max(); // one of them is 0
        }
    }
}

// Returns the condition without its keyword, or one that always holds if the selection is everything.
std::string condition_of(const Selection& side, const Database& database) {
    constexpr std::string_view kKeyword = " WHERE ";
    const std::string text = where(side, database, {.has_task = true});
    return text.empty() ? "1 = 1" : text.substr(kKeyword.size());
}

// Both sides are asked for in one pass, because each pass over a large store takes long.
std::vector<std::string> compare_statements(const Asked& asked, const Database& database) {
    const std::string a = condition_of(asked.a, database);
    const std::string b = condition_of(asked.b, database);
    const auto both = [&](std::string_view column) {
        return fmt::format("sum(CASE WHEN {0} THEN {2} ELSE 0 END) AS a_{2}, sum(CASE WHEN {1} THEN {2} ELSE 0 END) AS "
                           "b_{2}",
                           a, b, column);
    };
    return {fmt::format("SELECT task, {}, {}, max(CASE WHEN {} THEN worst_ns END) AS a_worst, max(CASE WHEN {} THEN "
                        "worst_ns END) AS b_worst FROM task_minutes WHERE ({}) OR ({}) GROUP BY task ORDER BY task",
                        both("jobs"), both("missed"), a, b, a, b),
            fmt::format("SELECT task, class_ns, {} FROM response_classes WHERE ({}) OR ({}) GROUP BY task, class_ns "
                        "ORDER BY task, class_ns",
                        both("jobs"), a, b)};
}

std::vector<Task> tasks_of(std::span<const Answer> answers) {
    std::map<std::string, Task> by_name;
    for (const std::vector<Value>& row : answers[0].rows) {
        Cells cells(row);
        auto& sides = by_name[cells.text()].sides;
        for (std::uint64_t Side::*const member : {&Side::jobs, &Side::missed}) {
            sides[0].*member = cells.count();
            sides[1].*member = cells.count();
        }
        for (Side& side : sides) {
            const auto longest = cells.optional();
            side.longest_ns = longest ? std::optional(static_cast<std::uint64_t>(*longest)) : std::nullopt;
            side.classes.limit_to(side.longest_ns);
        }
    }
    for (const std::vector<Value>& row : answers[1].rows) {
        Cells cells(row);
        auto& sides = by_name[cells.text()].sides;
        const std::uint64_t class_ns = cells.count();
        for (Side& side : sides) {
            side.classes.add(class_ns, cells.count());
        }
    }
    std::vector<Task> tasks;
    for (auto& [name, task] : by_name) {
        task.name = name;
        compute_change(task);
        tasks.push_back(std::move(task));
    }
    // Tasks on both sides come first, the largest change first; then the others.
    std::ranges::stable_sort(tasks, std::greater{}, [](const Task& task) {
        return std::pair(task.sides[0].jobs != 0 && task.sides[1].jobs != 0, task.change);
    });
    return tasks;
}

Field duration_of(std::optional<double> ns) {
    return ns ? Field(static_cast<std::int64_t>(*ns)) : Field();
}

Field ratio_of(std::optional<double> ratio) {
    return ratio ? Field(*ratio) : Field();
}

// Returns three lines for each task.
Listing text_of(const std::vector<Task>& tasks) {
    Listing listing{.name = "compare",
                    .views = {{"task", "task"},
                              {"side", "", Form::text, Shown::text},
                              {"", "jobs", Form::count},
                              {"", "missed", Form::share},
                              {"", "50 %", Form::duration},
                              {"", "99 %", Form::duration},
                              {"", "99.9 %", Form::duration},
                              {"", "longest", Form::duration}},
                    .rows = {},
                    .shown = Shown::text};
    for (const Task& task : tasks) {
        for (std::size_t side = 0; side < 2; ++side) {
            const auto figures = task.sides[side].figures();
            std::vector<Field>& fields = listing.rows.emplace_back();
            fields = {side == 0 ? task.name : std::string(), std::string(side == 0 ? "A" : "B"),
                      field_of(task.sides[side].jobs), ratio_of(figures[0])};
            for (std::size_t i = 1; i < kFigures; ++i) {
                fields.push_back(duration_of(figures[i]));
            }
        }
        // Ratios have no columns of their own; they are texts in the columns of the values.
        std::vector<Field>& fields = listing.rows.emplace_back();
        fields = {std::string(), std::string("B/A"), std::string()};
        for (const auto& ratio : task.ratios) {
            fields.emplace_back(ratio ? fmt::format("{:.2f} x", *ratio) : std::string("-"));
        }
    }
    return listing;
}

Listing json_of(const std::vector<Task>& tasks) {
    Listing listing =
        listing_of("compare", {"task",           "a_jobs",    "a_missed",   "a_missed_share", "a_p50_ns",
                               "a_p99_ns",       "a_p999_ns", "a_worst_ns", "b_jobs",         "b_missed",
                               "b_missed_share", "b_p50_ns",  "b_p99_ns",   "b_p999_ns",      "b_worst_ns",
                               "ratio_missed",   "ratio_p50", "ratio_p99",  "ratio_p999",     "ratio_worst"});
    listing.shown = Shown::json;
    for (const Task& task : tasks) {
        std::vector<Field>& fields = listing.rows.emplace_back();
        fields.emplace_back(task.name);
        for (const Side& side : task.sides) {
            const auto figures = side.figures();
            fields.insert(fields.end(), {field_of(side.jobs), field_of(side.missed), ratio_of(figures[0])});
            for (std::size_t i = 1; i < kFigures; ++i) {
                fields.push_back(duration_of(figures[i]));
            }
        }
        for (const auto& ratio : task.ratios) {
            fields.push_back(ratio_of(ratio));
        }
    }
    return listing;
}

Findings compare_findings(const Asked& asked, std::span<const Answer> answers) {
    std::vector<Task> tasks = tasks_of(answers);
    const bool cut = asked.limit != 0 && tasks.size() > asked.limit;
    if (cut) {
        tasks.resize(asked.limit);
    }
    Findings found{.listings = {text_of(tasks), json_of(tasks)}, .lines = {}};
    for (Listing& listing : found.listings) {
        listing.cut = cut;
    }
    return found;
}

} // namespace

const Question kCompare = {.name = "compare",
                           .meaning = "the tasks of two selections of runs side by side, the largest changes first",
                           .statements = compare_statements,
                           .findings = compare_findings};

} // namespace host::fleet::questions
