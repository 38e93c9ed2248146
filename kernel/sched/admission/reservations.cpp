// SPDX-License-Identifier: MIT
// Implements the sums of the promises, and the register that asks them first and the exact tests afterwards.
#include "kernel/sched/admission/reservations.hpp"

#include "kernel/sched/admission/exact_tests.hpp"
#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/processor.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace kernel {

PromiseSums::PromiseSums(Claim claim, const Demand& demand)
    : m_utilisation(share_rounded_up(demand.wcet_ns, demand.period_ns))
    , m_density(m_utilisation)
    , m_count(1) {
    if (claim == Claim::fixed) {
        m_once = Wide{demand.wcet_ns} * (demand.jitter_ns != 0 ? 2U : 1U);
        m_load = bandwidth_of(demand.wcet_ns, demand.period_ns);
        m_above = 1;
        return;
    }
    m_load = bandwidth_of(demand.wcet_ns, demand.deadline_ns);
    m_servers = demand.server ? 1 : 0;
    if (demand.deadline_ns != demand.period_ns) {
        m_density = share_rounded_up(demand.wcet_ns, demand.deadline_ns);
        m_constrained = 1;
    }
}

PromiseSums& PromiseSums::operator+=(const PromiseSums& more) {
    m_utilisation += more.m_utilisation;
    m_density += more.m_density;
    m_once += more.m_once;
    m_load += more.m_load;
    m_count += more.m_count;
    m_above += more.m_above;
    m_servers += more.m_servers;
    m_constrained += more.m_constrained;
    return *this;
}

PromiseSums& PromiseSums::operator-=(const PromiseSums& less) {
    m_utilisation -= less.m_utilisation;
    m_density -= less.m_density;
    m_once -= less.m_once;
    m_load -= less.m_load;
    m_count -= less.m_count;
    m_above -= less.m_above;
    m_servers -= less.m_servers;
    m_constrained -= less.m_constrained;
    return *this;
}

Verdict PromiseSums::utilisation() const {
    if (m_utilisation <= kDensityOne) {
        return Verdict::fits;
    }
    return m_utilisation >= kDensityOne + m_count ? Verdict::exceeds : Verdict::unknown;
}

// The line of load() is sufficient for every set, and it decides where there is a server.
Verdict PromiseSums::deadlines(std::uint64_t shortest) const {
    if (m_above == m_count || (m_above == 0 && m_constrained == 0)) {
        return Verdict::fits; // no promise has a deadline, or the utilisation decides
    }
    if (bit_width(m_once) > 64) {
        return Verdict::unknown;
    }
    const Wide line = m_density + (m_above != 0 ? divide_up(m_once << 63, shortest) : 0);
    if (line + 2 * Wide{m_above} <= kDensityOne) { // the tests round each share of what runs above, twice at most
        return Verdict::fits;
    }
    return m_servers != 0 && line > kDensityOne ? Verdict::exceeds : Verdict::unknown;
}

std::uint64_t PromiseSums::load(std::uint64_t shortest) const {
    return m_above != 0 ? saturate(Wide{m_load} + divide_up(m_once * kBandwidthMax, shortest)) : m_load;
}

namespace {

// One step copies this many entries with interrupts off, with some 25 instructions each.
constexpr std::size_t kCopiedAtOnce = 16;

} // namespace

bool Reservations::admits(Claim claim, const Demand& wanted, Slot replaced) {
    if (m_unlisted) {
        return false;
    }
    if (m_prepared.version == m_version && m_prepared.claim == claim && m_prepared.demand == wanted &&
        replaced == kNoSlot) {
        return m_prepared.admitted;
    }
    const Entry* const former = replaced != kNoSlot ? &m_entries[replaced] : nullptr;
    const Verdict known = by_sums(claim, wanted, former);
    if (known != Verdict::unknown) {
        return known == Verdict::fits;
    }
    const bool fixed_replaced = former != nullptr && former->claim == Claim::fixed;
    Copied copied = begin_copy(m_set, claim, wanted, fixed_replaced);
    static_cast<void>(copy(m_set, copied, std::numeric_limits<std::size_t>::max(), former));
    const bool held = holds(m_set, kStepsMax);
    m_fixed_hold = m_fixed_hold || (held && claim != Claim::fixed && !fixed_replaced);
    return held;
}

std::uint64_t Reservations::shortest_deadline(const Entry* but) const {
    const Entry* first = m_deadlines.first();
    if (first != nullptr && first == but) {
        first = m_deadlines.next(*first);
    }
    return std::min(first != nullptr ? first->demand.deadline_ns : kNoDeadline, m_retired_shortest);
}

// Fixed priorities, which run above deadlines, are not tested again, because they held without the new deadline.
Verdict Reservations::by_sums(Claim claim, const Demand& wanted, const Entry* replaced) const {
    PromiseSums sums(claim, wanted);
    sums += m_sums;
    if (replaced != nullptr) {
        sums -= replaced->sums;
    }
    const Verdict utilisation = sums.utilisation();
    if (utilisation != Verdict::fits) {
        return utilisation;
    }
    if (!m_fixed_hold || claim == Claim::fixed || (replaced != nullptr && replaced->claim == Claim::fixed)) {
        return Verdict::unknown;
    }
    return sums.deadlines(std::min(wanted.deadline_ns, shortest_deadline(replaced)));
}

void Reservations::Set::add(const Promise& promise) {
    demands[count++] = promise.demand;
    if (promise.claim == Claim::fixed) {
        std::swap(demands[count - 1], demands[fixed++]);
    }
}

Reservations::Copied Reservations::begin_copy(Set& set, Claim claim, const Demand& wanted, bool fixed_replaced) const {
    set.count = 0;
    set.fixed = 0;
    set.fixed_hold = m_fixed_hold && claim != Claim::fixed && !fixed_replaced;
    set.add({wanted, claim});
    return {.next = m_live.front()};
}

// Copies at most this many further entries, and returns true if those are all of them.
bool Reservations::copy(Set& set, Copied& copied, std::size_t most, const Entry* but) const {
    for (; most > 0; --most) {
        if (const Entry* const entry = copied.next) {
            copied.next = m_live.next(*entry);
            if (entry != but) {
                set.add(*entry);
            }
        } else if (copied.retired < m_retired_count) {
            set.add(m_retired[copied.retired++]);
        } else {
            return true;
        }
    }
    return false;
}

bool Reservations::holds(Set& set, std::uint32_t steps_max) {
    const auto all = std::span(set.demands).first(set.count);
    const auto above = all.first(set.fixed);
    std::ranges::sort(above, {}, &Demand::deadline_ns);
    Steps steps{steps_max};
    return utilisation_at_most_one(all) && (set.fixed_hold || fixed_priority_feasible(above, steps)) &&
           edf_feasible(all.subspan(set.fixed), above, steps);
}

// A task that is killed in its test, or whose job is aborted there, leaves its mark: the next caller finds that the
// owner is gone. Returns the version that is to be copied, or 0 if nothing is to be prepared.
std::uint64_t Reservations::begin_preparing(Claim claim, const Demand& wanted) {
    const IrqGuard off;
    const Task* const owner = m_prepared.owner;
    if (m_unlisted || by_sums(claim, wanted, nullptr) != Verdict::unknown ||
        (owner != nullptr && owner->state != TaskState::free && owner->context == m_prepared.owner_context &&
         owner->jobs.aborted == m_prepared.owner_aborted)) {
        return 0;
    }
    m_prepared.version = 0;
    m_prepared.claim = claim;
    m_prepared.demand = wanted;
    m_prepared.owner = current_task(off);
    m_prepared.owner_context = m_prepared.owner != nullptr ? m_prepared.owner->context : std::uint16_t{0};
    m_prepared.owner_aborted = m_prepared.owner != nullptr ? m_prepared.owner->jobs.aborted : 0;
    m_prepared.copied = begin_copy(m_prepared.set, claim, wanted, false);
    return m_version;
}

// Interrupts are on between two steps. Returns false if the promises have changed meanwhile.
bool Reservations::copy_in_steps(std::uint64_t version) {
    for (bool whole = false; !whole;) {
        const IrqGuard off;
        if (m_version != version) {
            m_prepared.owner = nullptr;
            return false;
        }
        whole = copy(m_prepared.set, m_prepared.copied, kCopiedAtOnce);
    }
    return true;
}

void Reservations::prepare(Claim claim, const Demand& wanted) {
    if (arch::interrupts_disabled()) {
        return;
    }
    const std::uint64_t version = begin_preparing(claim, wanted);
    if (version == 0 || !copy_in_steps(version)) {
        return;
    }
    const bool admitted = holds(m_prepared.set, kStepsPreparedMax);
    const IrqGuard guard;
    m_prepared.admitted = admitted;
    m_prepared.version = version; // what changed since makes it useless, not wrong
    m_prepared.owner = nullptr;
}

void Reservations::withdraw(Entry& entry) {
    m_live.remove(entry);
    if (entry.claim == Claim::deadline) {
        m_deadlines.remove(entry);
    }
    entry.claim = Claim::none;
}

// Fixed priorities have been tested with a promise that is new; one that is relaxed may be at another priority.
void Reservations::set(Slot slot, Claim claim, const Demand& demand, IrqOff off) {
    Entry& entry = m_entries[slot];
    const bool replaced = entry.claim != Claim::none;
    if (replaced) {
        m_sums -= entry.sums;
        withdraw(entry);
    }
    entry.demand = demand;
    entry.claim = claim;
    entry.sums = PromiseSums(claim, demand);
    m_sums += entry.sums;
    m_live.push_back(entry);
    if (claim == Claim::deadline) {
        m_deadlines.insert(entry);
    } else {
        m_fixed_hold = !replaced;
    }
    changed(off);
}

void Reservations::retire(Slot slot, IrqOff off) {
    Entry& entry = m_entries[slot];
    if (entry.claim == Claim::none) {
        return;
    }
    if (m_ready != 0 && m_retired_count < kRetiredMax) {
        m_retired[m_retired_count++] = entry;
        m_retired_sums += entry.sums;
        if (entry.claim == Claim::deadline) {
            m_retired_shortest = std::min(m_retired_shortest, entry.demand.deadline_ns);
        }
    } else {
        m_unlisted = m_unlisted || m_ready != 0;
        m_sums -= entry.sums;
    }
    withdraw(entry);
    changed(off);
}

void Reservations::work_left(IrqOff off) {
    ASSERT(m_ready != 0);
    if (--m_ready != 0 || (m_retired_count == 0 && !m_unlisted)) {
        return;
    }
    m_sums -= m_retired_sums;
    m_retired_sums = {};
    m_retired_shortest = kNoDeadline;
    m_retired_count = 0;
    m_unlisted = false;
    changed(off);
}

std::uint32_t Reservations::bandwidth(Slot slot) const {
    const Entry& entry = m_entries[slot];
    return entry.claim != Claim::none ? bandwidth_of(entry.demand.wcet_ns, entry.demand.period_ns) : 0;
}

void Reservations::changed(IrqOff off) {
    ++m_version;
    const std::uint64_t before = m_load;
    m_load = saturate(Wide{m_sums.load(shortest_deadline())} + (m_unlisted ? kBandwidthMax : 0));
    if (m_watcher != nullptr && m_load != before) {
        m_watcher->load_changed(off);
    }
}

} // namespace kernel
