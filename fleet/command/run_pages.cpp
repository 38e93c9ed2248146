// SPDX-License-Identifier: MIT
#include "fleet/command/run_pages.hpp"

#include "fleet/command/session_finder.hpp"
#include "host/cli/command/report/report_reading.hpp"
#include "host/formats/trace.hpp"
#include "host/output/output_file.hpp"
#include "host/report/document.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <system_error>
#include <utility>

namespace host::cli {

namespace {

using fleet::report::Span;
using fleet::report::WorstCase;

// Of one session: the cases of each span.
using Spans = std::map<Span, std::vector<WorstCase*>>;

// SessionFinder has checked the names: they become a part of a path.
std::string page_name(const WorstCase& one, const Span& span) {
    return fmt::format("{}.{}.{}.{}-{}.html", one.site, one.node, one.boot, span.from_ns, span.to_ns);
}

bool is_page_name(const std::string& name) {
    static const std::regex page("([A-Za-z0-9_-]{1,63}[.]){2}[0-9a-f]{16}[.][0-9]{1,19}-[0-9]{1,19}[.]html");
    return std::regex_match(name, page);
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

// What is wrong with a session is on its page; here only why it cannot be opened.
void write_pages_of(const std::string& session, const Spans& spans, const std::string& directory, Context context) {
    std::string latest;
    trace::Diagnostics diagnostics([&latest](std::string_view line) { latest = line; });
    trace::OpenOptions how;
    how.whole_first = true; // the oracle never accuses on damaged data
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

} // namespace

void find_sessions(const std::string& directory, std::vector<WorstCase>& cases) {
    SessionFinder finder(directory);
    for (WorstCase& one : cases) {
        one.session = finder.find(one.site, one.node, one.boot);
    }
}

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
        std::filesystem::remove(other, error); // one that stays there does no harm
    }
}

} // namespace host::cli
