// SPDX-License-Identifier: MIT
// remora fleet: questions about all nodes, to a store that `remora load` fills. Exit status 2 if verify finds that
// something is missing, 6 if an account stays open.
#include "fleet/command/commands.hpp"
#include "fleet/command/fleet_output.hpp"
#include "fleet/command/fleet_report.hpp"
#include "fleet/command/server_options.hpp"
#include "host/cli/command/exit_table.hpp"

#include "fleet/network/network.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

using fleet::questions::Asked;
using fleet::questions::Question;
using fleet::questions::Verdict;
using trace::ExitStatus;

constexpr std::uint64_t kLimitMax = 1'000'000'000;

struct FleetOptions {
    std::string question;
    std::string place;
    std::string a;
    std::string b;
    Asked asked;
    std::optional<std::uint64_t> limit;
    ServerOptions server;
    FleetReportOptions report;
    bool json = false;
    bool sql = false;
};

// Not among the questions: it asks several, and answers with a page.
constexpr std::string_view kReport = "report";

std::int64_t now_s() {
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string check_moment(const std::string& text) {
    return fleet::questions::moment_of(text, 0)
               ? ""
               : "must be a time in UTC, like 2026-11-24T10:00, or so long ago: 30s, 45m, 2h, 7d";
}

// What does not fit the question; empty if everything does.
std::string contradiction_in(const FleetOptions& options, const Question& question) {
    const bool compares = &question == &fleet::questions::kCompare;
    if (compares && options.b.empty()) {
        return "compare needs two selections, such as node=pi-1 node=pi-2";
    }
    if (!compares && !options.a.empty()) {
        return fmt::format("{} takes no selection after PLACE: use --site, --node and so on", question.name);
    }
    const std::vector<std::string> words = fleet::questions::by_words(question);
    if (!options.asked.by.empty() && std::ranges::find(words, options.asked.by) == words.end()) {
        return words.empty() ? fmt::format("{} takes no --by", question.name)
                             : fmt::format("--by of {} is one of: {}", question.name, question.by);
    }
    if (!options.report.output.empty() || !options.report.sessions.empty()) {
        return "-o and --sessions are of report";
    }
    if (options.asked.events && &question != &fleet::questions::kVerify) {
        return "--events is of verify";
    }
    if (options.asked.events && !fleet::is_server(options.place)) {
        return "--events needs a store with a table of events: in a directory they are in the packed sessions, and "
               "`remora verify` examines those";
    }
    return "";
}

// Likewise, of a page.
std::string contradiction_in_report(const FleetOptions& options) {
    return options.report.output.empty() ? "report needs -o FILE"
           : options.json || options.sql ? "report writes a page: leave out --json and --sql"
           : !options.a.empty()          ? "report takes no selection after PLACE: use --site, --node and so on"
           : !options.asked.by.empty()   ? "report takes no --by"
           : options.limit || options.asked.events ? "report takes neither --limit nor --events"
                                                   : "";
}

// A side of a comparison, with what the options add to both.
lib::Result<fleet::questions::Selection, trace::Refusal> side_of(const std::string& text, const FleetOptions& options,
                                                                 std::int64_t now) {
    auto side = fleet::questions::selection_of(text, now);
    if (!side) {
        return side;
    }
    const auto inherit = [](auto& own, const auto& common) {
        own = own == std::decay_t<decltype(own)>() ? common : own;
    };
    inherit(side.value().site, options.asked.only.site);
    inherit(side.value().node, options.asked.only.node);
    inherit(side.value().boot, options.asked.only.boot);
    inherit(side.value().application, options.asked.only.application);
    inherit(side.value().task, options.asked.only.task);
    inherit(side.value().since_s, options.asked.only.since_s);
    inherit(side.value().until_s, options.asked.only.until_s);
    return side;
}

lib::Result<Asked, trace::Refusal> asked_of(const FleetOptions& options, const Question& question) {
    Asked asked = options.asked;
    asked.place = options.place;
    asked.limit = options.limit.value_or(question.limit);
    if (&question == &fleet::questions::kCompare) {
        const std::int64_t now = now_s();
        auto a = side_of(options.a, options, now);
        auto b = side_of(options.b, options, now);
        if (!a || !b) {
            return a ? b.error() : a.error();
        }
        asked.a = std::move(a.value());
        asked.b = std::move(b.value());
    }
    return asked;
}

ExitStatus status_of(Verdict verdict) {
    return verdict == Verdict::missing ? ExitStatus::damaged
           : verdict == Verdict::open  ? kAccountOpen
                                       : ExitStatus::clean;
}

ExitStatus answer(const FleetOptions& options, Context context) {
    const auto complain = [context](std::string_view text, ExitStatus status = ExitStatus::usage) {
        context.err.print("remora fleet: {}\n", text);
        return status;
    };
    const bool report = options.question == kReport;
    const Question* const question = fleet::questions::find_question(options.question);
    if (question == nullptr && !report) {
        return complain(fmt::format("{} is no question", text::escaped(options.question)));
    }
    const std::string contradiction = report ? contradiction_in_report(options) : contradiction_in(options, *question);
    if (!contradiction.empty()) {
        return complain(contradiction);
    }
    const auto asked = asked_of(options, report ? fleet::questions::kNodes : *question);
    if (!asked) {
        return complain(asked.error().text);
    }
    const auto credentials = credentials_of(options.server);
    if (!credentials) {
        return complain(credentials.error().text);
    }
    const auto store = fleet::open_store(options.place, credentials.value(), fleet::OpenMode::read);
    if (!store) {
        return complain(store.error().text, trace::status_of(store.error().cause));
    }
    if (report) {
        return fleet_report(asked.value(), now_s(), options.report, *store.value(), context);
    }
    if (options.sql) {
        for (const std::string& statement : question->statements(asked.value(), *store.value())) {
            context.out.print("{};\n", statement);
        }
        return ExitStatus::clean;
    }
    const auto found = fleet::questions::ask(*question, asked.value(), *store.value());
    if (!found) {
        return complain(found.error().text, trace::status_of(found.error().cause));
    }
    if (options.json) {
        print_findings_json(context.out, question->name, found.value());
    } else {
        print_findings(context.out, found.value());
    }
    return status_of(found.value().verdict);
}

void add_filters(Command& command, FleetOptions& options) {
    fleet::questions::Selection& only = options.asked.only;
    command.option("--site", only.site, "only of this site");
    command.option("--node", only.node, "only of nodes of this name");
    command.option("--boot", only.boot, "only of this run: its boot id, as nodes and worst show it");
    command.option("--application", only.application, "only of runs of this application that have ended");
    command.option("--task", only.task, "of misses, worst and compare: only this task");
    command
        .option(
            "--since", [&only](const std::string& text) { only.since_s = fleet::questions::moment_of(text, now_s()); },
            "only from then on: a time in UTC, like 2026-11-24T10:00, or so long ago: 30s, 45m, 2h, 7d. Of misses and "
            "worst the time of the jobs, else when runs began")
        .check(check_moment);
    command
        .option(
            "--until", [&only](const std::string& text) { only.until_s = fleet::questions::moment_of(text, now_s()); },
            "only before then")
        .check(check_moment);
}

void add_report_options(Command& command, FleetReportOptions& options) {
    command.option("-o,--output", options.output, "of report: the page; -: standard output");
    command
        .option(
            "--runs", options.runs,
            "of report: so many of the worst cases have a link to a report of their run, in the directory FILE.runs")
        .show_default();
    command.option("--sessions", options.sessions,
                   "of report: where the sessions for those are: a store in a directory, packed sessions, or "
                   "directories of sessions. Default: the store, if it is a directory");
}

} // namespace

void add_fleet(CommandLine& line, Context context) {
    Command command =
        line.command("fleet", "ask a store of many nodes: nodes, misses, worst, compare, losses, verify, report");
    const auto options = std::make_shared<FleetOptions>();
    std::vector<std::string> names;
    std::string meanings = "Questions:\n";
    for (const Question* const question : fleet::questions::all_questions()) {
        names.emplace_back(question->name);
        meanings += fmt::format("  {:<8} {}\n", question->name, question->meaning);
    }
    names.emplace_back(kReport);
    meanings += fmt::format("  {:<8} {}\n", kReport,
                            "an HTML page of all that, with links to the runs of the worst cases; needs -o FILE");
    command.option("QUESTION", options->question, "one of those below").required().one_of(names);
    command
        .option("PLACE", options->place,
                "clickhouse://HOST[:PORT]/DATABASE, or a directory: what `remora load` loads into")
        .required();
    command.option(
        "A", options->a,
        "of compare: which runs, as in node=pi-1,since=7d; keys: site, node, boot, application, task, since, "
        "until");
    command.option("B", options->b, "of compare: the others");
    add_filters(command, *options);
    command.option("--by", options->asked.by,
                   "of misses: node-task (default), node, task, application, minute, hour, day; of worst: response "
                   "(default), lateness");
    command.option("--limit", options->limit, "so many rows at most; 0: all").range(0U, kLimitMax);
    command.flag("--events", options->asked.events, "of verify: count the stored events of each chunk, too");
    Option json = command.flag("--json", options->json, "as JSON");
    command.flag("--sql", options->sql, "print the statements instead of asking them").excludes(json);
    add_report_options(command, options->report);
    add_server_options(command, options->server);
    command.footer(meanings +
                   examples({"remora fleet nodes out/fleet", "remora fleet misses out/fleet --by hour --since 2d",
                             "remora fleet worst out/fleet --task control --limit 5",
                             "remora fleet compare out/fleet node=pi-1 node=pi-2",
                             "remora fleet verify clickhouse://store/remora --events",
                             "remora fleet report out/fleet -o out/fleet.html --since 7d"}));
    command.run([options, context] { return answer(*options, context); });
}

} // namespace host::cli
