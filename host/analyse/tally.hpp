// SPDX-License-Identifier: MIT
// Computes the cheapest useful figures of a trace: the number of each event, and how long each task had the processor.
//
// The busy time of a task lasts from each context_switch to the task until the next one on the same processor, a gap,
// or the processor's last record. The time of interrupt handlers is included; Summary excludes it.
#pragma once

#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "host/trace/number_map.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>

namespace host::analyse {

class Tally {
  public:
    // Must be called in time order. Metadata and damaged events are ignored.
    void add(std::span<const trace::Event> batch);

    // Gives each running task its time up to the last record of its processor. Must be called once, at the end.
    void finish();

    // Returns the numbers of sound events, by code.
    [[nodiscard]] const std::array<std::uint64_t, 256>& counts() const { return m_counts; }

    // Returns the number of all sound events, including those of unknown codes.
    [[nodiscard]] std::uint64_t events() const { return m_events; }

    // Returns the busy times, by context.
    [[nodiscard]] const std::map<std::uint16_t, lib::Ticks>& busy() const { return m_busy; }

    // Returns the ticks from the least to the greatest stamp.
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
