// SPDX-License-Identifier: MIT
// What is judged of any number of processors.
#include "host/analyse/oracle/oracle.hpp"

#include "host/text/format.hpp"

#include <algorithm>

namespace host::analyse::oracle {

using trace::kCodeOf;

// Judges whether a task has the processor that another one still has. The stamps of two processors may differ.
void Oracle::judge_processors(const trace::Event& event) {
    m_switches_filtered = m_switches_filtered || event.code == kCodeOf<"filter_priority">;
    if (m_switches_filtered) {
        return; // who leaves a processor is not known
    }
    if (kGaps[event.code]) {
        m_switches.erase(event.cpu);
    }
    const auto mine = m_switches.find(event.cpu);
    if (mine != m_switches.end() && mine->second.par1 != 0) {
        for (auto& [cpu, other] : m_switches) {
            const std::uint64_t since = std::max(mine->second.ticks.value, other.ticks.value);
            if (cpu != event.cpu && other.par1 == mine->second.par1 && event.ticks.value > since + m_timing.tolerance) {
                m_verdicts.fail(Rule::one_processor, other.par1,
                                fmt::format("{} runs on the processors {} and {} at once", m_model.name(other.par1),
                                            std::min(cpu, event.cpu), std::max(cpu, event.cpu)));
                other.par1 = 0; // once is enough
            }
        }
    }
    if (event.code == kCodeOf<"context_switch">) {
        m_switches[event.cpu] = event;
        m_forgot = false;
    }
}

// Returns whether the event is of a further processor of a kernel that states its hooks: nothing else judges it.
bool Oracle::judge_any_kernel(const trace::Event& event, const trace::TraceFacts& facts) {
    const bool stated = m_verdicts.hooks().stated();
    if (stated || m_has_order) {
        if (kGaps[event.code]) {
            m_any_kernel.forget();
        }
        set_tolerance(facts);
        m_any_kernel.event(event);
    }
    if (event.cpu == 0 || !stated) {
        return false;
    }
    m_verdicts.begin_many();
    m_verdicts.relax("a second processor: only the rules of any kernel and any number of processors are decided");
    return true;
}

} // namespace host::analyse::oracle
