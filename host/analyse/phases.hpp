// SPDX-License-Identifier: MIT
// The phases of a run. The teaching applications do the same under different conditions, one after the other, and mark
// the beginning of each with user_event_0: par1 is its number, from 1 in order, par2 is 0. The event is free for
// applications: a trace that has it with other numbers has no phases, nor has one with a single mark.
#pragma once

#include "host/trace/event.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace host::analyse {

struct RunPhase {
    std::uint32_t number = 0;            // from 1
    std::int64_t from_ns = 0;            // since the start of the trace
    std::optional<std::int64_t> to_ns{}; // the beginning of the next one; none: the end of the trace
};

class RunPhases {
  public:
    static constexpr std::uint32_t kPhasesMax = 16;

    // In time order.
    void add(const trace::Event& event) {
        if (event.metadata || !event.is(trace::kCodeOf<"user_event_0">)) {
            return;
        }
        const auto number = static_cast<std::uint32_t>(m_phases.size() + 1);
        m_are_phases = m_are_phases && event.timed && event.par1 == number && event.par2 == 0 && number <= kPhasesMax;
        if (!m_are_phases) {
            return;
        }
        if (!m_phases.empty()) {
            m_phases.back().to_ns = event.time_ns;
        }
        m_phases.push_back({.number = number, .from_ns = event.time_ns});
    }

    // Empty, or at least two.
    [[nodiscard]] std::vector<RunPhase> phases() const {
        return m_are_phases && m_phases.size() > 1 ? m_phases : std::vector<RunPhase>{};
    }

  private:
    std::vector<RunPhase> m_phases;
    bool m_are_phases = true;
};

} // namespace host::analyse
