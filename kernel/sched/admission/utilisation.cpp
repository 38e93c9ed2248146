// SPDX-License-Identifier: MIT
// See utilisation.hpp.
#include "kernel/sched/admission/utilisation.hpp"

#include <algorithm>
#include <limits>

namespace kernel {

namespace {

// Calculates the sum as a fraction over the least common multiple so far.
Verdict exact_utilisation(std::span<const Demand> tasks) {
    Wide numerator = 0;
    Wide multiple = 1;
    for (const Demand& task : tasks) {
        const std::uint64_t divisor =
            greatest_common_divisor(task.period_ns, divide(multiple, task.period_ns).remainder);
        const auto scaled = multiply(numerator, task.period_ns / divisor);
        const auto added = multiply(divide(multiple, divisor).quotient, task.wcet_ns);
        const auto widened = multiply(multiple, task.period_ns / divisor);
        if (!scaled || !added || !widened) {
            return Verdict::unknown;
        }
        numerator = *scaled + *added;
        multiple = *widened;
        if (numerator > multiple) {
            return Verdict::exceeds;
        }
    }
    return Verdict::fits;
}

Wide add_saturated(Wide sum, Wide term) {
    constexpr Wide kCap = kDensityOne << 32; // far above one, and far below what could overflow
    return std::min(sum + std::min(term, kCap), kCap);
}

} // namespace

Wide share_rounded_up(std::uint64_t a, std::uint64_t b) {
    return divide_up(Wide{a} << 63, b);
}

std::uint32_t bandwidth_of(std::uint64_t wcet_ns, std::uint64_t period_ns) {
    const Wide share = divide_up(Wide{wcet_ns} * kBandwidthMax, period_ns);
    return share > kBandwidthMax ? kBandwidthMax : static_cast<std::uint32_t>(share);
}

bool utilisation_at_most_one(std::span<const Demand> tasks) {
    switch (exact_utilisation(tasks)) {
    case Verdict::fits:
        return true;
    case Verdict::exceeds:
        return false;
    case Verdict::unknown:
        break;
    }
    Wide sum = 0;
    for (const Demand& task : tasks) {
        sum = add_saturated(sum, share_rounded_up(task.wcet_ns, task.period_ns));
    }
    return sum <= kDensityOne;
}

Wide density_rounded_up(std::span<const Demand> own, std::span<const Demand> above) {
    Wide sum = 0;
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    for (const Demand& task : own) {
        sum = add_saturated(sum, share_rounded_up(task.wcet_ns, task.deadline_ns));
        shortest = std::min(shortest, task.deadline_ns);
    }
    for (const Demand& task : above) {
        const Wide once = share_rounded_up(task.wcet_ns, shortest);
        sum = add_saturated(sum, share_rounded_up(task.wcet_ns, task.period_ns));
        sum = add_saturated(sum, task.jitter_ns != 0 ? once * 2 : once);
    }
    return sum;
}

// Calculates the product as a fraction that is kept in lowest terms as far as 64 bits go.
Verdict hyperbolic_bound(std::span<const Demand> tasks) {
    Wide numerator = 1;
    Wide denominator = 1;
    for (const Demand& task : tasks) {
        const std::uint64_t divisor = greatest_common_divisor(task.wcet_ns, task.period_ns);
        const std::uint64_t period = task.period_ns / divisor;
        const Wide factor = Wide{period} + task.wcet_ns / divisor;
        const auto above = multiply(numerator, factor);
        const auto below = multiply(denominator, period);
        if (!above || !below || *above > *below * 2) {
            return Verdict::unknown;
        }
        numerator = *above;
        denominator = *below;
        while (((numerator | denominator) & 1U) == 0) {
            numerator >>= 1;
            denominator >>= 1;
        }
    }
    return Verdict::fits;
}

} // namespace kernel
