// SPDX-License-Identifier: MIT
// The events of a tlog file, merged across processes by time: log_type is the event's number, (arg1, arg2) its words,
// the process its cpu, nanoseconds its ticks; pairs are a schedule (pair_schedule.hpp). Times are those of the file,
// since tlog_initialize, not since the first event. Memory: one buffer per process and the index of runs, both bounded.
#pragma once

#include "foreign/tlog/pair_schedule.hpp"
#include "foreign/tlog/process_check.hpp"
#include "foreign/tlog/process_cursor.hpp"
#include "host/trace/event_stream.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace host::formats::tlog {

class TlogStream final : public trace::EventStream {
  public:
    // A pipe is copied to a file without a name first. Any error was reported to diagnostics. corrupt, io, no_space.
    [[nodiscard]] static lib::Result<std::unique_ptr<TlogStream>> open(const trace::NamedSource& input, Layout layout,
                                                                       const trace::OpenOptions& options,
                                                                       trace::Diagnostics& diagnostics);

    [[nodiscard]] std::span<const trace::Event> next_batch() override {
        return next(m_single) ? std::span<const trace::Event>(&m_single, 1) : std::span<const trace::Event>();
    }

  private:
    [[nodiscard]] bool next(trace::Event& event);

    struct Head {
        std::uint64_t key = 0; // greatest time of the process so far
        std::size_t process = 0;
    };

    struct Process {
        ProcessCursor cursor;
        ProcessCheck check;
        Slot slot{};
        ProcessCheck::Verdict verdict{};
    };

    TlogStream(const trace::NamedSource& input, RunIndex index, Layout layout, const trace::OpenOptions& options,
               trace::Diagnostics& diagnostics);

    void advance(std::size_t process);
    [[nodiscard]] bool next_in_file(trace::Event& event);
    void fill(trace::Event& event, const Slot& slot, const ProcessCheck::Verdict& verdict);
    void note_misplaced();
    void report_failure(const ProcessCursor& cursor);

    std::string m_name;
    trace::Diagnostics& m_diagnostics;
    bool m_strict;
    std::uint64_t m_damages; // before anything was read
    RunIndex m_index;
    std::array<Run, 1> m_whole{};
    std::vector<Process> m_processes;
    std::vector<Head> m_heads;                                // a heap: the earliest on top
    std::unique_ptr<ProcessCursor> m_front;                   // instead, when there are too many runs
    std::unordered_map<std::uint16_t, ProcessCheck> m_checks; // then
    std::array<std::uint32_t, 2> m_words{};
    PairSchedule m_pairs;
};

} // namespace host::formats::tlog
