// SPDX-License-Identifier: MIT
// How long steps have kept a timer interrupt waiting: a section with interrupts off lasts some hundred times longer in
// a task that runs in steps (docs/instruction-tracing.md), and the trace shows how long. The time counts while such a
// task runs, from the end of each timer's interrupt on.
#pragma once

#include "host/trace/event.hpp"

#include <algorithm>

namespace host::analyse::oracle {

class StepTime {
  public:
    // Events in their order, each of them.
    void event(const trace::Event& event) {
        using trace::kCodeOf;
        const std::uint64_t now = event.ticks.value;
        m_now += m_in_steps && now > m_last ? now - m_last : 0;
        m_longest = std::max(m_longest, m_now);
        m_last = now;
        if (event.code == kCodeOf<"instruction"> || event.code == kCodeOf<"block">) {
            m_in_steps = true;
        } else if (event.code == kCodeOf<"context_switch">) {
            m_in_steps = false;
        } else if (event.code == kCodeOf<"timer_wakeup_end">) {
            m_now = 0;
        }
    }

    // What happened in a gap of the trace is not known.
    void forget() { m_in_steps = false; }

    // Ticks; 0 if no task has run in steps.
    [[nodiscard]] std::uint64_t longest() const { return m_longest; }

  private:
    bool m_in_steps = false;
    std::uint64_t m_last = 0;
    std::uint64_t m_now = 0;
    std::uint64_t m_longest = 0;
};

} // namespace host::analyse::oracle
