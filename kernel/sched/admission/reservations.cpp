// SPDX-License-Identifier: MIT
// See reservations.hpp.
#include "kernel/sched/admission/reservations.hpp"

#include "kernel/sched/admission/processor_demand.hpp"
#include "kernel/sched/admission/response_time.hpp"
#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/processor.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace kernel {

namespace {

constexpr std::size_t kRetiredFirst = kTasksMax + kServersMax;

} // namespace

bool Reservations::admits(Claim claim, const Demand& wanted, Slot replaced) {
    if (m_unlisted) {
        return false;
    }
    if (m_prepared.version == m_version && m_prepared.claim == claim && m_prepared.demand == wanted &&
        replaced == kNoSlot) {
        return m_prepared.admitted;
    }
    collect(m_set, claim, wanted, replaced);
    return holds(m_set, kStepsMax);
}

void Reservations::collect(Set& set, Claim claim, const Demand& wanted, Slot replaced) const {
    set.count = 0;
    set.fixed = 0;
    const auto add = [&set](const Entry& entry) {
        set.demands[set.count++] = entry.demand;
        if (entry.claim == Claim::fixed) {
            std::swap(set.demands[set.count - 1], set.demands[set.fixed++]);
        }
    };
    for (Slot slot = 0; slot < m_entries.size(); ++slot) {
        if (m_entries[slot].claim != Claim::none && slot != replaced) {
            add(m_entries[slot]);
        }
    }
    add({wanted, claim});
}

bool Reservations::holds(Set& set, std::uint32_t steps_max) {
    const auto all = std::span(set.demands).first(set.count);
    const auto above = all.first(set.fixed);
    std::ranges::sort(above, {}, &Demand::deadline_ns);
    Steps steps{steps_max};
    return utilisation_at_most_one(all) && fixed_priority_feasible(above, steps) &&
           edf_feasible(all.subspan(set.fixed), above, steps);
}

// A task that is killed in its test, or whose job is aborted there, leaves its mark: whoever comes next finds that the
// owner is gone.
bool Reservations::begin_preparing(Claim claim, const Demand& wanted) {
    const IrqGuard off;
    const Task* const owner = m_prepared.owner;
    if (m_unlisted || (owner != nullptr && owner->state != TaskState::free &&
                       owner->context == m_prepared.owner_context && owner->jobs.aborted == m_prepared.owner_aborted)) {
        return false;
    }
    m_prepared.version = 0;
    m_prepared.claim = claim;
    m_prepared.demand = wanted;
    m_prepared.owner = current_task(off);
    m_prepared.owner_context = m_prepared.owner != nullptr ? m_prepared.owner->context : std::uint16_t{0};
    m_prepared.owner_aborted = m_prepared.owner != nullptr ? m_prepared.owner->jobs.aborted : 0;
    collect(m_prepared.set, claim, wanted, kNoSlot);
    return true;
}

void Reservations::prepare(Claim claim, const Demand& wanted) {
    if (arch::interrupts_disabled()) {
        return;
    }
    const std::uint64_t version = __atomic_load_n(&m_version, __ATOMIC_RELAXED);
    if (!begin_preparing(claim, wanted)) {
        return;
    }
    const bool admitted = holds(m_prepared.set, kStepsPreparedMax);
    const IrqGuard guard;
    m_prepared.admitted = admitted;
    m_prepared.version = version; // of before the copy: what changed between makes it useless, not wrong
    m_prepared.owner = nullptr;
}

void Reservations::set(Slot slot, Claim claim, const Demand& demand, IrqOff off) {
    m_entries[slot] = {demand, claim};
    changed(off);
}

void Reservations::retire(Slot slot, IrqOff off) {
    Entry& entry = m_entries[slot];
    if (entry.claim == Claim::none) {
        return;
    }
    if (m_ready != 0) {
        if (m_retired < kRetiredMax) {
            m_entries[kRetiredFirst + m_retired++] = entry;
        } else {
            m_unlisted = true;
        }
    }
    entry = {};
    changed(off);
}

void Reservations::work_left(IrqOff off) {
    ASSERT(m_ready != 0);
    if (--m_ready != 0 || (m_retired == 0 && !m_unlisted)) {
        return;
    }
    std::ranges::fill(std::span(m_entries).subspan(kRetiredFirst), Entry{});
    m_retired = 0;
    m_unlisted = false;
    changed(off);
}

std::uint32_t Reservations::bandwidth(Slot slot) const {
    const Entry& entry = m_entries[slot];
    return entry.claim != Claim::none ? bandwidth_of(entry.demand.wcet_ns, entry.demand.period_ns) : 0;
}

// The load is the line of density_rounded_up(), term by term in the published unit: a deadline below its period counts
// as one, and what runs above counts once more in the shortest interval that can matter.
void Reservations::changed(IrqOff off) {
    ++m_version;
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    for (const Entry& entry : m_entries) {
        if (entry.claim == Claim::deadline) {
            shortest = std::min(shortest, entry.demand.deadline_ns);
        }
    }
    const std::uint64_t before = m_load;
    m_load = 0;
    for (const Entry& entry : m_entries) {
        const Demand& demand = entry.demand;
        if (entry.claim == Claim::deadline) {
            m_load += bandwidth_of(demand.wcet_ns, demand.deadline_ns);
        } else if (entry.claim == Claim::fixed) {
            const std::uint64_t once = bandwidth_of(demand.wcet_ns, shortest);
            m_load += bandwidth_of(demand.wcet_ns, demand.period_ns) + (demand.jitter_ns != 0 ? 2 * once : once);
        }
    }
    if (m_unlisted) {
        m_load += kBandwidthMax;
    }
    if (m_watcher != nullptr && m_load != before) {
        m_watcher->load_changed(off);
    }
}

} // namespace kernel
