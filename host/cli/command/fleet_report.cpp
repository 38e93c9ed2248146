// SPDX-License-Identifier: MIT
#include "host/cli/command/fleet_report.hpp"

#include "host/cli/command/run_pages.hpp"
#include "host/convert/output_file.hpp"
#include "host/fleet/network.hpp"
#include "host/fleet/report/page.hpp"
#include "host/text/escape.hpp"

#include <filesystem>
#include <span>

namespace host::cli {

namespace {

// Packed sessions that the page's commands name: of a server they must be loaded first.
fleet::report::Runs runs_of(const fleet::questions::Asked& asked, const FleetReportOptions& options) {
    fleet::report::Runs runs;
    runs.sessions = !options.sessions.empty() ? options.sessions : fleet::is_server(asked.place) ? "runs" : asked.place;
    while (runs.sessions.size() > 1 && runs.sessions.ends_with('/')) {
        runs.sessions.pop_back();
    }
    if (fleet::is_server(asked.place) && options.sessions.empty()) {
        runs.preparation = "remora load --from nats://HOST --to runs --until-empty";
    }
    return runs;
}

} // namespace

trace::ExitStatus fleet_report(const fleet::questions::Asked& asked, std::int64_t now_s,
                               const FleetReportOptions& options, fleet::Database& store, Context context) {
    const auto failed = [&](const convert::Failure& failure) {
        context.err.print("remora fleet: {}: {}\n", text::escaped(options.output), failure.text);
        return convert::status_of(failure.cause);
    };
    const auto destination =
        convert::Destination::open(options.output, convert::Destination::Shape::file, std::span<const std::string>());
    if (!destination) {
        return failed(destination.error());
    }
    auto gathered = fleet::report::gather(asked, now_s, store);
    if (!gathered) {
        context.err.print("remora fleet: {}\n", gathered.error().text);
        return trace::status_of(gathered.error().cause);
    }
    fleet::report::Runs runs = runs_of(asked, options);
    const std::string directory = options.output == "-" ? std::string() : options.output + ".runs";
    const bool has_sessions = !options.sessions.empty() || !fleet::is_server(asked.place);
    if (options.runs != 0 && !directory.empty() && has_sessions) {
        write_run_pages({.directory = directory, .sessions = runs.sessions, .count = options.runs},
                        gathered.value().worst.rows, context);
        runs.directory = std::filesystem::path(directory).filename().string();
    }
    destination.value()->file().append(fleet::report::page(fleet::report::contents(gathered.value(), runs)));
    const auto committed = destination.value()->commit();
    if (!committed) {
        return failed(committed.error());
    }
    if (!directory.empty()) {
        remove_other_run_pages(directory, gathered.value().worst.rows);
    }
    return trace::ExitStatus::clean;
}

} // namespace host::cli
