// SPDX-License-Identifier: MIT
// Rows of `utilisation`: to which task or handler each moment of each processor belongs (docs/metrics.md), added up
// over windows of equal length, or over the whole trace.
//
//   window 0          window 1          window 2              from the start of the trace
//   |---- A ----| idle |v| A |---- B ---|? |B|                a row for each use of a window
#pragma once

#include "host/schedule/processor_time.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace host::sql {

class UtilisationRows {
  public:
    // The sink outlives this object. window_ns: of each window; 0: one, the whole trace.
    explicit UtilisationRows(const RowSink& sink, std::uint64_t window_ns = 0)
        : m_sink(sink)
        , m_window_ns(window_ns) {}

    // In time order; metadata and broken events are ignored. khz: the clock's rate as far as it is known, else 0: then
    // there is one window.
    void add(const trace::Event& event, std::uint32_t khz);

    // Once, after the last event: the rows.
    void finish(std::uint32_t khz);

    // There are more rows than can be kept: the windows are too short.
    [[nodiscard]] bool overflows() const { return m_done.size() > kRowsMax; }

  private:
    static constexpr std::size_t kRowsMax = 10'000'000;

    // What a processor does.
    struct Use {
        enum class Kind : std::uint8_t { task, idle, interrupt, unknown };

        Kind kind = Kind::unknown;
        std::uint32_t number = 0;          // context or vector
        const std::string* name = nullptr; // of a task

        friend auto operator<=>(const Use&, const Use&) = default;
    };

    struct Processor {
        schedule::ProcessorTime time;
        std::uint64_t window = 0;
        std::map<Use, lib::Ticks> uses; // in it
    };

    struct Row {
        std::uint64_t window;
        std::uint16_t cpu;
        Use use;
        lib::Ticks ticks;
        lib::Ticks whole; // of all uses of the window
    };

    void give(std::uint16_t cpu, Processor& processor, const schedule::ProcessorTime::Stretch& stretch,
              std::uint32_t khz);
    void end_window(std::uint16_t cpu, Processor& processor);
    [[nodiscard]] Use use_of(const schedule::ProcessorTime::Stretch& stretch);
    [[nodiscard]] const std::string* name_of(std::uint32_t context);
    [[nodiscard]] lib::Ticks end_of(std::uint64_t window, std::uint32_t khz) const;

    const RowSink& m_sink;
    std::uint64_t m_window_ns;
    std::optional<lib::Ticks> m_start; // of the trace
    lib::Ticks m_last;
    std::map<std::uint16_t, Processor> m_processors;
    std::vector<Row> m_done;
    std::map<std::uint32_t, const std::string*> m_names; // of the tasks that have the contexts now
    std::set<std::string> m_texts;                       // all of them
    trace::Names m_trace_names; // of the latest event; a copy, because those of a chunk go with it
};

} // namespace host::sql
