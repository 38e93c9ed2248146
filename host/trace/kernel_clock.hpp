// SPDX-License-Identifier: MIT
// Stamps are the machine's counter. Where the kernel set its own clock back (clock_compensated), that clock is what its
// deadlines and decisions go by: the stamp less what was removed from it by then, on that processor. It never falls
// (but once in a trace that begins in the middle: take() has the rule): where a setting goes back behind what was seen
// already, it stands still. Behind a gap, in which settings may be missing, it stands still until the next record of
// it.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <algorithm>
#include <map>

namespace host::trace {

class KernelClock {
  public:
    // Whether any clock was set back so far.
    [[nodiscard]] bool in_use() const { return m_in_use; }

    // Whether this processor had any event.
    [[nodiscard]] bool knows(std::uint16_t cpu) const { return m_processors.contains(cpu); }

    // Before the first event of a processor whose clock was set back before the trace begins: removed by then.
    void begin(std::uint16_t cpu, std::uint64_t removed) {
        m_in_use = true;
        m_processors[cpu].removed = removed;
    }

    // Events that need nothing else were seen, up to this stamp. Only before a clock was set back.
    void saw(std::uint16_t cpu, lib::Ticks stamp) {
        if (cpu != m_seen_cpu || m_seen == nullptr) {
            m_seen_cpu = cpu;
            m_seen = &m_processors[cpu];
        }
        m_seen->last = std::max(m_seen->last, stamp.value);
    }

    // Of an event in the order of stamps, metadata left out: what it says of the clock is noted, and its time becomes
    // that of the kernel's clock. start: of the trace. A clock that lags behind by more than the trace has lasted was
    // set back before the trace began: only then it falls, once, to where it is.
    void take(Event& event, lib::Ticks start, TraceFacts& facts) {
        if (event.is(kCodeOf<"compensation_count">) && event.par1 < tracer::kStepOutcomeNames.size()) {
            compensation(facts).steps[event.par1] += event.par2;
        }
        const bool setting = event.is(kCodeOf<"clock_compensated">);
        if (!setting && !m_in_use) {
            saw(event.cpu, event.ticks);
            return;
        }
        Processor& cpu = m_processors[event.cpu];
        const bool gap = event.is(kCodeOf<"trace_start">) || event.is(kCodeOf<"blackout_end">);
        if (gap && cpu.removed != 0) { // a clock that was never set back is not told again
            cpu.is_settled = false;
        }
        if (setting) {
            m_in_use = true;
            cpu.is_settled = true;
            const std::uint64_t removed = std::uint64_t{event.par1} << 32 | event.par2;
            const std::uint64_t lasted = event.ticks.value - std::min(event.ticks.value, start.value);
            const bool earlier = cpu.removed == 0 && removed > lasted;
            cpu.last = earlier ? 0 : cpu.last;
            if (!earlier && removed > cpu.removed) {
                lib::Ticks& sum = compensation(facts).removed_meanwhile;
                sum = sum + lib::Ticks{removed - cpu.removed};
            }
            const bool set_back = removed != cpu.removed; // else it is told again
            cpu.removed = removed;
            compensation(facts).removed = {std::max(compensation(facts).removed.value, cpu.removed)};
            compensation(facts).settings += set_back ? 1 : 0;
        }
        const std::uint64_t stamp = event.ticks.value;
        if (cpu.is_settled) {
            cpu.last = std::max(cpu.last, stamp - std::min(stamp, cpu.removed));
        }
        event.ticks = {cpu.last};
    }

  private:
    struct Processor {
        std::uint64_t removed = 0;
        std::uint64_t last = 0;
        bool is_settled = true; // false: `removed` may have grown unseen
    };

    static Compensation& compensation(TraceFacts& facts) {
        return facts.compensation ? *facts.compensation : facts.compensation.emplace();
    }

    std::map<std::uint16_t, Processor> m_processors;
    Processor* m_seen = nullptr; // of m_seen_cpu
    std::uint16_t m_seen_cpu = 0;
    bool m_in_use = false;
};

} // namespace host::trace
