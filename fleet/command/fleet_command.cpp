// SPDX-License-Identifier: MIT
// remora fleet asks questions about all nodes of a store that `remora load` fills. The exit status is 2 if verify finds
// that something is missing, 8 if a run ended badly, 6 if an account stays open. The list of all commands of
// remora-fleet is here, too.
#include "convert/command/full_program.hpp"
#include "fleet/command/commands.hpp"
#include "fleet/command/fleet_report.hpp"
#include "fleet/command/server_options.hpp"
#include "fleet/network/network.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/selection.hpp"
#include "host/cli/command/exit_table.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::cli {

namespace {

using fleet::questions::Field;
using fleet::questions::Findings;
using fleet::questions::Form;
using fleet::questions::Listing;
using fleet::questions::Shown;
using fleet::questions::View;

std::string number_text(Form form, std::int64_t number) {
    constexpr std::uint32_t kTicksAreNs = 1'000'000;
    const bool negative = number < 0;
    const auto magnitude =
        negative ? std::uint64_t{0} - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
    switch (form) {
    case Form::moment:
        return fleet::questions::moment_text(number);
    case Form::duration:
        return (negative ? "-" : "") + Times(kTicksAreNs).text(lib::Ticks{magnitude});
    case Form::text:
    case Form::count:
    case Form::share:
    case Form::ratio:
        break;
    }
    return (negative ? "-" : "") + grouped(magnitude);
}

std::string field_text(const View& view, const Field& field) {
    if (const auto* const text = std::get_if<std::string>(&field)) {
        return text::escaped(*text);
    }
    if (const auto* const number = std::get_if<std::int64_t>(&field)) {
        return number_text(view.form, *number);
    }
    if (const auto* const fraction = std::get_if<double>(&field)) {
        return view.form == Form::share ? fmt::format("{:.3f} %", 100 * *fraction) : fmt::format("{:.2f} x", *fraction);
    }
    return "-";
}

void print_line(Output& out, const std::vector<View>& views, const std::vector<std::size_t>& widths,
                const std::vector<std::string>& texts, bool heading) {
    std::string line;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (views[i].shown == Shown::json) {
            continue;
        }
        const bool left = views[i].form == Form::text || views[i].form == Form::moment;
        line += fmt::format("{}", line.empty() ? "" : "  ");
        line += left ? fmt::format("{:<{}}", texts[i], widths[i]) : fmt::format("{:>{}}", texts[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.print("{}\n", heading ? out.styled(Style::strong, line) : line);
}

void print_listing(Output& out, const Listing& listing) {
    std::vector<std::string> headings;
    std::vector<std::size_t> widths;
    for (const View& view : listing.views) {
        headings.emplace_back(view.heading);
        widths.push_back(view.heading.size());
    }
    std::vector<std::vector<std::string>> rows;
    for (const std::vector<Field>& fields : listing.rows) {
        std::vector<std::string>& texts = rows.emplace_back();
        for (std::size_t i = 0; i < fields.size() && i < listing.views.size(); ++i) {
            texts.push_back(field_text(listing.views[i], fields[i]));
            widths[i] = std::max(widths[i], texts.back().size());
        }
    }
    print_line(out, listing.views, widths, headings, true);
    for (const std::vector<std::string>& texts : rows) {
        print_line(out, listing.views, widths, texts, false);
    }
    if (rows.empty()) {
        out.print("none\n");
    }
    if (listing.cut) {
        out.print("and more: see --limit\n");
    }
}

void write_field(text::JsonText& json, const Field& field) {
    if (const auto* const text = std::get_if<std::string>(&field)) {
        json.value(*text);
    } else if (const auto* const number = std::get_if<std::int64_t>(&field)) {
        json.value(*number);
    } else if (const auto* const fraction = std::get_if<double>(&field)) {
        json.value(*fraction);
    } else {
        json.value(nullptr);
    }
}

void write_listing(Output& out, text::JsonText& json, const Listing& listing) {
    json.begin_array(listing.name);
    for (const std::vector<Field>& fields : listing.rows) {
        json.line();
        json.begin_object();
        for (std::size_t i = 0; i < fields.size() && i < listing.views.size(); ++i) {
            if (listing.views[i].shown != Shown::text) {
                json.key(listing.views[i].key);
                write_field(json, fields[i]);
            }
        }
        json.end_object();
        out.flush_if_full();
    }
    json.end_lines();
}

void print_findings(Output& out, const Findings& findings) {
    bool first = true;
    for (const Listing& listing : findings.listings) {
        if (listing.shown == Shown::json) {
            continue;
        }
        out.print("{}", first ? "" : "\n");
        first = false;
        print_listing(out, listing);
    }
    out.print("{}", findings.lines.empty() ? "" : "\n");
    for (const std::string& line : findings.lines) {
        out.print("{}\n", line);
    }
}

// Prints one object with the question and an array for each table.
void print_findings_json(Output& out, std::string_view question, const Findings& findings) {
    text::JsonText json(out.buffer());
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("question", question);
    if (findings.verdict != fleet::questions::Verdict::none) {
        json.member("verdict", fleet::questions::verdict_text(findings.verdict));
    }
    bool cut = false;
    for (const Listing& listing : findings.listings) {
        cut = cut || listing.cut;
        if (listing.shown != Shown::text) {
            write_listing(out, json, listing);
        }
    }
    json.member("cut", cut);
    json.begin_array("lines");
    for (const std::string& line : findings.lines) {
        json.value(line);
    }
    json.end_array();
    json.end_object();
    out.print("\n");
}

using fleet::questions::Asked;
using fleet::questions::Question;
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

// This is not one of the questions: it asks several, and answers with a page.
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

// Returns why the options do not fit the question; empty if they do.
std::string contradiction_in(const FleetOptions& options, const Question& question) {
    const bool compares = &question == &fleet::questions::kCompare;
    if (compares && options.b.empty()) {
        return "compare needs two selections, such as node=pi-1 node=pi-2";
    }
    if (!compares && !options.a.empty()) {
        return fmt::format("{} takes no selection after PLACE: use --site, --node and so on", question.name);
    }
    const std::vector<std::string_view> words = text::split(question.by, " ");
    if (!options.asked.by.empty() && std::ranges::find(words, options.asked.by) == words.end()) {
        return question.by.empty() ? fmt::format("{} takes no --by", question.name)
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

// Returns why the options do not fit a report; empty if they do.
std::string contradiction_in_report(const FleetOptions& options) {
    return options.report.output.empty() ? "report needs -o FILE"
           : options.json || options.sql ? "report writes a page: leave out --json and --sql"
           : !options.a.empty()          ? "report takes no selection after PLACE: use --site, --node and so on"
           : !options.asked.by.empty()   ? "report takes no --by"
           : options.limit || options.asked.events ? "report takes neither --limit nor --events"
                                                   : "";
}

lib::Result<Asked, trace::Refusal> asked_of(const FleetOptions& options, const Question& question) {
    Asked asked = options.asked;
    asked.place = options.place;
    asked.limit = options.limit.value_or(question.limit);
    if (&question == &fleet::questions::kCompare) {
        const std::int64_t now = now_s();
        for (const auto& [text, side] : {std::pair(&options.a, &asked.a), std::pair(&options.b, &asked.b)}) {
            const auto selection = fleet::questions::selection_of(*text, now);
            if (!selection) {
                return selection.error();
            }
            // Both sides have the selection of the options, too.
            *side = completed(selection.value(), options.asked.only);
        }
    }
    return asked;
}

ExitStatus status_of(const Findings& found) {
    return worse(found.badly ? kEndedBadly : ExitStatus::clean,
                 found.verdict == fleet::questions::Verdict::missing ? ExitStatus::damaged
                 : found.verdict == fleet::questions::Verdict::open  ? kAccountOpen
                                                                     : ExitStatus::clean);
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
    return status_of(found.value());
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

void add_everything(CommandLine& line, Context context) {
    add_full(line, context, publishing_of_fleet());
    add_publish(line, context);
    add_load(line, context);
    add_fleet(line, context);
}

} // namespace host::cli
