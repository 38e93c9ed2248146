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

#include <array>
#include <cstddef>
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
    static constexpr auto kColumns = static_cast<std::size_t>(column_count(Table::utilisation));

    // window_ns: the length of each window; 0: there is one, the whole trace.
    explicit UtilisationRows(std::uint64_t window_ns = 0)
        : m_window_ns(window_ns) {}

    // Takes the events in time order; metadata and broken ones are ignored. khz: the clock's rate as far as it is
    // known, else 0: then there is one window.
    void add(const trace::Event& event, std::uint32_t khz);

    // Completes the rows, once, after the last event.
    void finish(std::uint32_t khz);

    [[nodiscard]] std::size_t size() const { return m_done.size(); }

    // Returns a row after finish(). Its texts are valid while the object lives.
    [[nodiscard]] std::array<Cell, kColumns> cells(std::size_t row) const;

    // Returns whether there are more rows than can be kept: the windows are too short.
    [[nodiscard]] bool overflows() const { return m_done.size() > kRowsMax; }

  private:
    static constexpr std::size_t kRowsMax = 10'000'000;

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

    std::uint64_t m_window_ns;
    std::uint32_t m_khz = 0;           // at the end
    std::optional<lib::Ticks> m_start; // of the trace
    lib::Ticks m_last;
    std::map<std::uint16_t, Processor> m_processors;
    std::vector<Row> m_done;
    std::map<std::uint32_t, const std::string*> m_names; // of the tasks that have the contexts now
    std::set<std::string> m_texts;                       // all of them
    trace::Names m_trace_names; // of the latest event; a copy, because those of a chunk go with it
};

} // namespace host::sql
