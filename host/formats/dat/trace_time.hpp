// SPDX-License-Identifier: MIT
// The times of events: nanoseconds since the start of the trace, by the kernel's own clock where that was set back.
#pragma once

#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/kernel_clock.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/tick_scale.hpp"
#include "lib/units.hpp"

#include <optional>
#include <span>

namespace host::formats::dat {

class TraceTime {
  public:
    // Both outlive this. machine_clock: stamps stay as they are.
    TraceTime(trace::TraceFacts& facts, trace::Diagnostics& diagnostics, bool machine_clock)
        : m_facts(facts)
        , m_diagnostics(diagnostics)
        , m_machine_clock(machine_clock) {}

    TraceTime(const TraceTime&) = delete;
    TraceTime& operator=(const TraceTime&) = delete;

    // The first stamp of the trace. Nothing for a pipe: set() takes it from the first event.
    void start_at(std::optional<lib::Ticks> start) { m_start = start; }

    [[nodiscard]] bool has_started() const { return m_start.has_value(); }

    // Of an event that this cursor returned.
    void set(trace::Event& event, const ChunkCursor& cursor);

    // Of plain records of one processor that this cursor returned, at least one. Precondition: has_started().
    void set_plain(std::span<trace::Event> events, const ChunkCursor& cursor);

  private:
    void begin_kernel_clock(const trace::Event& event, const ChunkCursor& cursor);
    void update_scale();
    void convert(trace::Event& event);
    [[nodiscard]] lib::Ticks distance_from_start(const trace::Event& event) const;

    trace::TraceFacts& m_facts;
    trace::Diagnostics& m_diagnostics;
    KernelClock m_kernel_clock;
    bool m_machine_clock;
    trace::TickScale m_scale;
    std::optional<lib::Ticks> m_start;
};

} // namespace host::formats::dat
