// SPDX-License-Identifier: MIT
// See reservations.hpp.
#include "kernel/admission/reservations.hpp"

#include "kernel/admission/processor_demand.hpp"
#include "kernel/admission/response_time.hpp"
#include "kernel/admission/utilisation.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace kernel {

namespace {

constexpr std::size_t kRetiredFirst = kTasksMax + kServersMax;

} // namespace

bool Reservations::admits(Claim claim, const Demand& wanted, Slot replaced) {
    if (m_unlisted) {
        return false;
    }
    std::size_t fixed = 0;
    std::size_t count = 0;
    const auto add = [&](Claim kind, const Demand& demand) {
        m_scratch[count++] = demand;
        if (kind == Claim::fixed) {
            std::swap(m_scratch[count - 1], m_scratch[fixed++]);
        }
    };
    for (Slot slot = 0; slot < m_entries.size(); ++slot) {
        if (m_entries[slot].claim != Claim::none && slot != replaced) {
            add(m_entries[slot].claim, m_entries[slot].demand);
        }
    }
    add(claim, wanted);
    const auto all = std::span(m_scratch).first(count);
    const auto above = all.first(fixed);
    std::ranges::sort(above, {}, &Demand::deadline_ns);
    Steps steps{kStepsMax};
    return utilisation_at_most_one(all) && fixed_priority_feasible(above, steps) &&
           edf_feasible(all.subspan(fixed), above, steps);
}

void Reservations::set(Slot slot, Claim claim, const Demand& demand) {
    m_entries[slot] = {demand, claim};
    update_load();
}

void Reservations::retire(Slot slot) {
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
    update_load();
}

void Reservations::work_left() {
    ASSERT(m_ready != 0);
    if (--m_ready != 0 || (m_retired == 0 && !m_unlisted)) {
        return;
    }
    std::ranges::fill(std::span(m_entries).subspan(kRetiredFirst), Entry{});
    m_retired = 0;
    m_unlisted = false;
    update_load();
}

std::uint32_t Reservations::bandwidth(Slot slot) const {
    const Entry& entry = m_entries[slot];
    return entry.claim != Claim::none ? bandwidth_of(entry.demand.wcet_ns, entry.demand.period_ns) : 0;
}

// The line of density_rounded_up(), term by term in the published unit: a deadline below its period counts as one, and
// what runs above counts once more in the shortest interval that can matter.
void Reservations::update_load() {
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
        m_watcher->load_changed();
    }
}

} // namespace kernel
