// SPDX-License-Identifier: MIT
#include "fleet/command/fleet_report.hpp"

#include "fleet/message.hpp"
#include "fleet/report/gathered.hpp"
#include "fleet/report/page.hpp"
#include "fleet/server.hpp"
#include "host/cli/command/report/report_reading.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/trace.hpp"
#include "host/output/output_file.hpp"
#include "host/report/document.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

constexpr int kDepthMax = 3;
constexpr std::string_view kPacked = ".rpk";

bool is_boot(std::string_view text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

SessionFinder::SessionFinder(std::string directory)
    : m_directory(std::move(directory)) {}

std::string SessionFinder::find(const std::string& site_untrusted, const std::string& node_untrusted,
                                const std::string& boot_untrusted) {
    if (!fleet::is_name(site_untrusted) || !fleet::is_name(node_untrusted) || !is_boot(boot_untrusted)) {
        return {};
    }
    std::error_code error;
    std::string stored =
        fmt::format("{}/{}/{}/{}{}", m_directory, site_untrusted, node_untrusted, boot_untrusted, kPacked);
    if (std::filesystem::is_regular_file(stored, error)) {
        return stored;
    }
    if (!std::exchange(m_looked, true)) {
        look_everywhere();
    }
    const auto found = m_by_boot.find(boot_untrusted);
    return found != m_by_boot.end() ? found->second : std::string();
}

void SessionFinder::look_everywhere() {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::recursive_directory_iterator entry(m_directory, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        const fs::path& path = entry->path();
        std::error_code unknown;
        if (entry->is_regular_file(unknown) && path.extension() == kPacked && is_boot(path.stem().string())) {
            m_by_boot.emplace(path.stem().string(), path.string());
        } else if (entry->is_directory(unknown)) {
            const bool is_session = fs::exists(path / formats::dat::kManifestName, unknown);
            if (is_session) {
                if (const auto manifest = formats::dat::load_manifest(path.string())) {
                    m_by_boot.emplace(fleet::boot_text(manifest.value().boot_id), path.string());
                }
            }
            if (is_session || entry.depth() >= kDepthMax) {
                entry.disable_recursion_pending();
            }
        }
    }
}

namespace {

using fleet::report::Span;
using fleet::report::WorstCase;

// This maps the spans of one session to their cases.
using Spans = std::map<Span, std::vector<WorstCase*>>;

// The names become a part of a path; SessionFinder has checked them.
std::string page_name(const WorstCase& one, const Span& span) {
    return fmt::format("{}.{}.{}.{}-{}.html", one.site, one.node, one.boot, span.from_ns, span.to_ns);
}

bool is_page_name(std::string_view name) {
    const auto is_number = [](std::string_view text) {
        return !text.empty() && text.size() <= 19 && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const std::vector<std::string_view> parts = text::split(name, ".");
    if (parts.size() != 5 || !fleet::is_name(parts[0]) || !fleet::is_name(parts[1]) || !is_boot(parts[2])) {
        return false;
    }
    std::string_view end = parts[3];
    const std::string_view begin = text::take_until(end, "-");
    return is_number(begin) && is_number(end) && parts[4] == "html";
}

bool write_page(const std::string& path, const report::Trace& trace, Context context) {
    const std::vector<std::vector<std::byte>> contents = {report::contents(trace)};
    const auto destination =
        output::Destination::open(path, output::Destination::Shape::file, std::span<const std::string>());
    const auto complain = [&](const output::Failure& failure) {
        context.err.print("remora fleet: {}: {}\n", text::escaped(path), failure.text);
        return false;
    };
    if (!destination) {
        return complain(destination.error());
    }
    destination.value()->file().append(report::page(contents));
    const auto committed = destination.value()->commit();
    return committed ? true : complain(committed.error());
}

std::set<WorstCase*> chosen_of(std::vector<WorstCase>& cases, std::uint64_t count) {
    std::vector<WorstCase*> late;
    late.reserve(cases.size());
    for (WorstCase& one : cases) {
        late.push_back(&one);
    }
    std::ranges::stable_sort(late, std::greater{}, [](const WorstCase* one) { return one->lateness_ns; });
    std::set<WorstCase*> chosen;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        for (WorstCase* const one : {&cases[i], late[i]}) {
            if (chosen.size() < count) {
                chosen.insert(one);
            }
        }
    }
    return chosen;
}

// Reports only why a session cannot be opened; its page shows what is wrong in it.
void write_pages_of(const std::string& session, const Spans& spans, const std::string& directory, Context context) {
    std::string latest;
    trace::Diagnostics diagnostics([&latest](std::string_view line) { latest = line; });
    trace::OpenOptions how;
    how.whole_first = true; // so that the oracle does not judge damaged data
    const auto opened = formats::Trace::open(session, how, diagnostics);
    if (!opened) {
        context.err.print("remora fleet: no page for {}: {}\n", text::escaped(session), latest);
        return;
    }
    formats::Trace& trace = *opened.value();
    std::vector<std::pair<std::unique_ptr<Reading>, const Spans::value_type*>> readings;
    for (const auto& entry : spans) {
        const Reading::Options options{.window = {.from_ns = entry.first.from_ns, .to_ns = entry.first.to_ns},
                                       .intervals_max = kReportIntervalsMax,
                                       .title = session,
                                       .words = {}};
        readings.emplace_back(std::make_unique<Reading>(options, std::nullopt, trace), &entry);
    }
    trace.for_each([&readings](const trace::Event& event) {
        for (auto& [reading, entry] : readings) {
            reading->add(event);
        }
    });
    if (trace.facts().usable_events == 0) {
        context.err.print("remora fleet: no page for {}: no record of a known event\n", text::escaped(session));
        return;
    }
    for (auto& [reading, entry] : readings) {
        const auto& [span, cases] = *entry;
        const std::string name = page_name(*cases.front(), span);
        reading->finish();
        if (write_page(fmt::format("{}/{}", directory, name), reading->tables(), context)) {
            for (WorstCase* const one : cases) {
                one->page = name;
            }
        }
    }
}

// Names the session of each case that is in the directory: a store in a directory, packed sessions, or directories of
// sessions.
void find_sessions(const std::string& directory, std::vector<WorstCase>& cases) {
    SessionFinder finder(directory);
    for (WorstCase& one : cases) {
        one.session = finder.find(one.site, one.node, one.boot);
    }
}

// Writes the pages of `count` cases into the directory, which is created if necessary, and names them in the cases: in
// turn the next longest response and the next greatest lateness. cases: by response. What cannot be read or written is
// reported, and has no page. Each session is read once.
void write_run_pages(const std::string& directory, std::uint64_t count, std::vector<WorstCase>& cases,
                     Context context) {
    std::map<std::string, Spans> sessions;
    std::uint64_t missing = 0;
    for (WorstCase* const one : chosen_of(cases, count)) {
        if (one->session.empty()) {
            ++missing;
        } else if (one->span) {
            sessions[one->session][*one->span].push_back(one);
        }
    }
    if (missing != 0) {
        context.err.print("remora fleet: {} of the worst cases have no link: their sessions are not there\n", missing);
    }
    if (sessions.empty()) {
        return;
    }
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
        context.err.print("remora fleet: {}: {}; the page has no links\n", text::escaped(directory), error.message());
        return;
    }
    for (const auto& [session, spans] : sessions) {
        write_pages_of(session, spans, directory, context);
    }
}

// Removes the pages that an earlier page linked to and this one does not: files there whose names are those of run
// pages.
void remove_other_run_pages(const std::string& directory, const std::vector<WorstCase>& cases) {
    std::set<std::string> linked;
    for (const WorstCase& one : cases) {
        linked.insert(one.page);
    }
    std::error_code error;
    std::vector<std::filesystem::path> others;
    for (std::filesystem::directory_iterator entry(directory, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        std::error_code unknown;
        const std::string name = entry->path().filename().string();
        if (entry->is_regular_file(unknown) && is_page_name(name) && !linked.contains(name)) {
            others.push_back(entry->path());
        }
    }
    for (const std::filesystem::path& other : others) {
        std::filesystem::remove(other, error); // an old page that cannot be removed does no harm
    }
}

// Returns the directory with the sessions, or an empty text if there is none.
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
