// SPDX-License-Identifier: MIT
// Reads the events of a tlog file, merged across processes by time: log_type is the event's number, (arg1, arg2) its
// words, the process its cpu, nanoseconds its ticks; pairs are a schedule (PairSchedule). Times are those of the file,
// since tlog_initialize, not since the first event. Memory: one buffer per process and the index of runs, both bounded.
#pragma once

#include "foreign/tlog/kinds.hpp"
#include "foreign/tlog/process.hpp"
#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/names.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace host::formats::tlog {

// Turns the pairs of a tlog file into a schedule. Each process is a processor; it runs a task for the process itself
// from START to END, and from an IN to its OUT the task of that pair. A pair inside another one preempts it; after its
// OUT it rests.
//
//   START         EVENT_1_IN       EVENT_2_IN       EVENT_2_OUT       EVENT_1_OUT          END
//     | node 3         | 3 EVENT_1        | 3 EVENT_2       | 3 EVENT_1         | node 3               | idle
class PairSchedule {
  public:
    // Takes a sound record in the order of its process, and names new tasks. Returns nothing if it does not change what
    // runs, if it closes a pair that is not open, or if there are too many tasks or open pairs.
    [[nodiscard]] std::optional<trace::Meaning> take(const Record& record, const Kind& kind, trace::Names& names);

    // Returns whether there are tasks without a context, because there are more than 65,535.
    [[nodiscard]] bool overfull() const { return m_overfull; }

  private:
    static constexpr std::size_t kDepthMax = 64;
    static constexpr std::uint8_t kProcess = 0; // used instead of the type that opens a pair
    static constexpr std::uint8_t kIdle = 1;

    [[nodiscard]] std::optional<trace::Meaning> switch_to(std::uint16_t process, std::uint8_t slot, std::uint32_t par2,
                                                          std::string_view pair, trace::Names& names);

    trace::ForeignContexts m_contexts; // by process and slot
    std::map<std::uint16_t, std::vector<std::uint8_t>> m_open;
    bool m_overfull = false;
};

class TlogStream final : public trace::EventStream {
  public:
    // Opens the file; a pipe is first copied to a file without a name. Any error is reported to diagnostics. corrupt,
    // io, no_space.
    [[nodiscard]] static lib::Result<std::unique_ptr<TlogStream>> open(const trace::NamedSource& input, Layout layout,
                                                                       const trace::OpenOptions& options,
                                                                       trace::Diagnostics& diagnostics);

  private:
    [[nodiscard]] std::span<trace::Event> read_batch() override {
        return next(m_single) ? std::span<trace::Event>(&m_single, 1) : std::span<trace::Event>();
    }

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
    std::uint64_t m_damages; // reported before reading began
    RunIndex m_index;
    std::array<Run, 1> m_whole{};
    std::vector<Process> m_processes;
    std::vector<Head> m_heads;                                // a heap with the earliest on top
    std::unique_ptr<ProcessCursor> m_front;                   // used instead if there are too many runs
    std::unordered_map<std::uint16_t, ProcessCheck> m_checks; // used with m_front
    std::array<std::uint32_t, 2> m_words{};
    PairSchedule m_pairs;
};

} // namespace host::formats::tlog
