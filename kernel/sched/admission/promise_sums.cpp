// SPDX-License-Identifier: MIT
// See promise_sums.hpp.
#include "kernel/sched/admission/promise_sums.hpp"

#include "kernel/sched/admission/utilisation.hpp"

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

// The line is sufficient for every set, and it decides where there is a server.
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

} // namespace kernel
