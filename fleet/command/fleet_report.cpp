// SPDX-License-Identifier: MIT
#include "fleet/command/fleet_report.hpp"

#include "fleet/command/run_pages.hpp"
#include "fleet/report/page.hpp"
#include "fleet/server.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace host::cli {

namespace {

// Where sessions are at hand. Empty: nowhere.
std::string sessions_of(const fleet::questions::Asked& asked, const FleetReportOptions& options) {
    std::string directory = !options.sessions.empty()       ? options.sessions
                            : fleet::is_server(asked.place) ? std::string()
                                                            : asked.place;
    while (directory.size() > 1 && directory.ends_with('/')) {
        directory.pop_back();
    }
    return directory;
}

} // namespace

trace::ExitStatus fleet_report(const fleet::questions::Asked& asked, std::int64_t now_s,
                               const FleetReportOptions& options, fleet::Database& store, Context context) {
    const auto failed = [&](const output::Failure& failure) {
        context.err.print("remora fleet: {}: {}\n", text::escaped(options.output), failure.text);
        return output::status_of(failure.cause);
    };
    const auto destination =
        output::Destination::open(options.output, output::Destination::Shape::file, std::span<const std::string>());
    if (!destination) {
        return failed(destination.error());
    }
    auto gathered = fleet::report::gather(asked, now_s, store);
    if (!gathered) {
        context.err.print("remora fleet: {}\n", gathered.error().text);
        return trace::status_of(gathered.error().cause);
    }
    std::vector<fleet::report::WorstCase>& cases = gathered.value().worst.rows;
    const std::string directory = options.output == "-" ? std::string() : options.output + ".runs";
    const std::string sessions = sessions_of(asked, options);
    fleet::report::Runs runs;
    if (sessions.empty()) {
        runs.preparation = fmt::format("remora load --from nats://HOST --to {} --until-empty", fleet::report::kFetched);
    } else {
        find_sessions(sessions, cases);
    }
    if (options.runs != 0 && !directory.empty() && !sessions.empty()) {
        write_run_pages(directory, options.runs, cases, context);
        runs.directory = std::filesystem::path(directory).filename().string();
    }
    destination.value()->file().append(fleet::report::page(fleet::report::contents(gathered.value(), runs)));
    const auto committed = destination.value()->commit();
    if (!committed) {
        return failed(committed.error());
    }
    if (!directory.empty()) {
        remove_other_run_pages(directory, cases);
    }
    return trace::ExitStatus::clean;
}

} // namespace host::cli
