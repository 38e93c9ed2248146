// SPDX-License-Identifier: MIT
// The cheapest useful figures of a trace: how many of each event, and how long each task had the processor.
//
// Busy time of a task: from each context_switch to it to the next one on the same processor, to a gap, or to the
// processor's last record. Interrupt handlers are not taken off: that is what Summary is for.
#pragma once

#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>

namespace host::analyse {

class Tally {
  public:
    // In time order. Metadata and broken events are passed over.
    void add(std::span<const trace::Event> batch);

    // Gives each running task its time up to the last record of its processor. Call once, at the end.
    void finish();

    // Sound events by code.
    [[nodiscard]] const std::array<std::uint64_t, 256>& counts() const { return m_counts; }

    // All sound events, those of unknown codes too.
    [[nodiscard]] std::uint64_t events() const { return m_events; }

    // By context.
    [[nodiscard]] const std::map<std::uint16_t, lib::Ticks>& busy() const { return m_busy; }

    // From the least to the greatest stamp.
    [[nodiscard]] lib::Ticks duration() const { return m_last >= m_first ? m_last - m_first : lib::Ticks{}; }

  private:
    using ProcessorTime = schedule::ProcessorTime;

    void add_one(const trace::Event& event);
    void give(const ProcessorTime::Stretch& stretch);

    std::array<std::uint64_t, 256> m_counts{};
    std::uint64_t m_events = 0;
    std::map<std::uint16_t, lib::Ticks> m_busy;
    trace::NumberMap<ProcessorTime> m_processors;
    lib::Ticks m_first{~std::uint64_t{0}};
    lib::Ticks m_last;
};

} // namespace host::analyse
