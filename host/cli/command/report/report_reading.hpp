// SPDX-License-Identifier: MIT
// Reads a trace into the tables of a report, and has the other parts of `remora report`. The tables are complete after
// the last event; of a continuing trace they have what has been read so far.
#pragma once

#include "host/analyse/crash.hpp"
#include "host/analyse/oracle/oracle.hpp"
#include "host/analyse/run_comparison.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/formats/trace.hpp"
#include "host/report/document.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace host::cli {

// A million intervals take a browser about a second and 150 MB, in addition to a second and 200 MB for any page. With
// more intervals than this a reader waits longer than three seconds.
inline constexpr std::uint64_t kReportIntervalsMax = 2'000'000;

class Reading {
  public:
    struct Options {
        report::Axis::Window window{};
        std::uint64_t intervals_max = 0;  // with more, the page ends where this number was reached
        std::string title;                // of the trace, as the user named it
        std::vector<std::string> words{}; // the options with which it was opened; escaped
    };

    // raises are what an observer outside of the machine saw. The trace must outlive this object.
    Reading(const Options& options, std::optional<std::vector<schedule::Observed>> raises, const formats::Trace& trace);

    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    // Takes events in time order.
    void add(const trace::Event& event);

    // Must be called after the last event.
    void finish();

    // Reads the trace again, to say why jobs were late; it must be possible to open it twice. Must be called after
    // finish(). Without misses it does nothing.
    void explain_late(const TraceInput& input);

    // Returns what was read so far, or all of it.
    [[nodiscard]] report::Trace tables();

    // Returns whether nothing of the trace is missing. Must be called after finish().
    [[nodiscard]] bool whole() const { return m_whole; }

    // Returns where the page ends early; nothing if it has all that was asked for.
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
    analyse::CrashWatch m_ends;
    std::set<std::uint16_t> m_cpus;
    const formats::Trace& m_trace;
    bool m_finished = false;
    bool m_whole = true;
};

// The options of `remora report --live`, which serves the page of a running machine to browsers of this machine.
struct LiveReport {
    TraceInput input;
    Reading::Options reading{};
    std::string output;     // the page when the command ends; empty: none
    std::uint16_t port = 0; // 0: one that is free
};

// Serves the page until the user stops it.
[[nodiscard]] trace::ExitStatus follow_live(const LiveReport& options, Context context);

// Returns what a page of `remora report` has besides its traces when it compares two traces or phases of one. For each
// pair that can be chosen it has what `remora diff --json` prints, so that both show the same.
//
//   {"sides": [{"trace": 0, "title": "phase 1", "from_ns": 8531, "to_ns": 51017497}, ...],
//    "pairs": [{"of": [0, 1], "diff": {...}}, ...], "chosen": 0}
//
// trace: index of one of the page's traces; from_ns, to_ns: null without a limit; chosen: the pair shown first, null:
// none.

// titles must be printable.
[[nodiscard]] std::vector<std::byte> compared_traces(const analyse::Phrases& phrases,
                                                     const analyse::Both<const analyse::Run*>& runs,
                                                     const analyse::Both<std::string>& titles);

// Numbers of two phases, from 1.
using PhasePair = analyse::Both<std::uint32_t>;

// Parses two phases as a user writes them: `1,2`. Returns nothing for another text, or for the same phase twice.
[[nodiscard]] std::optional<PhasePair> phase_pair_of(const std::string& text);

// Returns each pair of the phases of a run. chosen: existing phases.
[[nodiscard]] std::vector<std::byte> compared_phases(const analyse::Phrases& phrases, const analyse::Run& run,
                                                     std::span<const analyse::RunPhase> phases,
                                                     const std::optional<PhasePair>& chosen);

} // namespace host::cli
