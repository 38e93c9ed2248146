// SPDX-License-Identifier: MIT
// A trace, read into the tables of a report. The tables are complete after the last event; of a trace that continues
// they are whatever has been read so far.
#pragma once

#include "host/analyse/oracle/oracle.hpp"
#include "host/formats/trace.hpp"
#include "host/report/document.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace host::cli {

// A million intervals take a browser about a second and 150 MB, on top of one second and 200 MB of any page. With more
// than these a reader waits longer than three seconds.
inline constexpr std::uint64_t kReportIntervalsMax = 2'000'000;

class Reading {
  public:
    struct Options {
        report::Axis::Window window{};
        std::uint64_t intervals_max = 0;  // with more, the page ends where they were reached
        std::string title;                // of the trace, as the user named it
        std::vector<std::string> words{}; // the options with which it was opened; escaped
    };

    // raises: what an observer outside of the machine saw. The trace outlives this.
    Reading(const Options& options, std::optional<std::vector<schedule::Observed>> raises, const formats::Trace& trace);

    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    // In time order.
    void add(const trace::Event& event);

    // After the last event.
    void finish();

    // What was read so far, or all of it.
    [[nodiscard]] report::Trace tables();

    // After finish(): nothing of the trace is missing.
    [[nodiscard]] bool whole() const { return m_whole; }

    // None: the page has all that was asked for.
    [[nodiscard]] std::optional<std::int64_t> full_at_ns() const {
        return m_schedule.is_full() ? m_axis.window().to_ns : std::nullopt;
    }

    [[nodiscard]] std::uint64_t intervals() const { return m_schedule.intervals(); }

  private:
    [[nodiscard]] std::size_t task_of(const trace::Event& event);
    void note(const analyse::oracle::Finding& finding);

    report::Axis m_axis;
    report::ScheduleTables m_schedule;
    analyse::Latencies m_latencies;
    report::EventTables m_events{m_axis};
    report::Head m_head;
    analyse::oracle::Oracle m_oracle{[this](const analyse::oracle::Finding& finding) { note(finding); }, std::nullopt};
    std::set<std::uint16_t> m_cpus;
    const formats::Trace& m_trace;
    bool m_finished = false;
    bool m_whole = true;
};

} // namespace host::cli
