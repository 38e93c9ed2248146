// SPDX-License-Identifier: MIT
// How long steps have kept a timer interrupt waiting: a section with interrupts off lasts some hundred times longer in
// a task that runs in steps (docs/instruction-tracing.md), and the trace shows how long. The time counts while such a
// task runs, from the end of each timer's interrupt on, and matters for what is measured around it alone.
#pragma once

#include "host/trace/event.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace host::analyse::oracle {

class StepTime {
  public:
    // Whether an event of this code matters; the others may be left out.
    [[nodiscard]] bool concerns(std::uint8_t code) const {
        return m_in_steps || m_now != 0 || !m_past.empty() || code == trace::kCodeOf<"instruction"> ||
               code == trace::kCodeOf<"block">;
    }

    // Events in their order.
    void event(const trace::Event& event) {
        using trace::kCodeOf;
        const std::uint64_t now = event.ticks.value;
        if (m_in_steps) {
            m_now += now > m_last ? now - m_last : 0;
            m_longest = std::max(m_longest, m_now);
        }
        m_last = now;
        if (!m_past.empty()) {
            std::erase_if(m_past, [now](const Past& past) { return past.until < now; });
        }
        if (event.code == kCodeOf<"instruction"> || event.code == kCodeOf<"block">) {
            m_in_steps = true;
        } else if (event.code == kCodeOf<"context_switch">) {
            m_in_steps = false;
        } else if (event.code == kCodeOf<"timer_wakeup_end">) {
            end_section(now);
        }
    }

    // What happened in a gap of the trace is not known.
    void forget() { m_in_steps = false; }

    // Ticks by which the kernel may have been late in what is measured up to now; 0 if no task ran in steps lately.
    [[nodiscard]] std::uint64_t delay() const { return m_past.empty() ? m_now : std::max(m_now, m_past.front().ticks); }

    // Ticks, of the whole trace so far.
    [[nodiscard]] std::uint64_t longest() const { return m_longest; }

  private:
    // What ran late is measured when its job, slice or budget ends: for so many times the delay it counts.
    static constexpr std::uint64_t kNear = 8;

    struct Past {
        std::uint64_t ticks = 0;
        std::uint64_t until = 0;
    };

    // A shorter section that ended earlier is forgotten sooner, and never the longest one.
    void end_section(std::uint64_t now) {
        if (m_now != 0) {
            std::erase_if(m_past, [this](const Past& past) { return past.ticks <= m_now; });
            m_past.push_back({m_now, now + kNear * m_now});
            m_now = 0;
        }
    }

    bool m_in_steps = false;
    std::uint64_t m_last = 0;
    std::uint64_t m_now = 0;
    std::uint64_t m_longest = 0;
    std::vector<Past> m_past; // the longest first
};

} // namespace host::analyse::oracle
