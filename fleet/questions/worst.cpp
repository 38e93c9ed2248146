// SPDX-License-Identifier: MIT
// worst: the jobs with the longest responses of all nodes, and how to look at them.
#include "fleet/questions/cells.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/runs.hpp"
#include "fleet/questions/selection.hpp"
#include "fleet/server.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <optional>

namespace host::fleet::questions {

namespace {

// Of the trace, around a job that is looked at.
constexpr std::int64_t kAroundNs = 1'000'000;

std::vector<std::string> statements(const Asked& asked, const Database& database) {
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

// The packed session in a directory store; of a server, in the directory to which it is loaded first.
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

Findings findings(const Asked& asked, std::span<const Answer> answers) {
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
        if (asked.limit != 0 && listing.rows.size() == asked.limit) {
            listing.cut = true;
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
                         .statements = statements,
                         .findings = findings};

} // namespace host::fleet::questions
