// SPDX-License-Identifier: MIT
// Implements 128-bit division, and the tests by shares of the processor.
#include "kernel/sched/admission/utilisation.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace kernel {

int bit_width(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(value));
}

namespace {

// The processor divides 128 bits by 64 as long as the quotient fits 64: high < divisor. (The compiler's routine for the
// whole is in a library that the freestanding kernel does not link.)
std::uint64_t divide_step(std::uint64_t high, std::uint64_t low, std::uint64_t divisor, std::uint64_t& remainder) {
    std::uint64_t quotient = 0;
    asm("divq %4" : "=a"(quotient), "=d"(remainder) : "0"(low), "1"(high), "r"(divisor) : "cc");
    return quotient;
}

} // namespace

// Divides by long division with digits of 64 bits.
Division divide(Wide dividend, std::uint64_t divisor) {
    const auto high = static_cast<std::uint64_t>(dividend >> 64);
    Division result;
    const std::uint64_t first = high / divisor;
    const std::uint64_t second =
        divide_step(high % divisor, static_cast<std::uint64_t>(dividend), divisor, result.remainder);
    result.quotient = (Wide{first} << 64) | second;
    return result;
}

Wide divide_up(Wide dividend, std::uint64_t divisor) {
    const Division division = divide(dividend, divisor);
    return division.quotient + (division.remainder != 0 ? 1U : 0U);
}

std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b) {
    while (b != 0) {
        const std::uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

std::optional<Wide> multiply(Wide a, Wide b) {
    if (bit_width(a) + bit_width(b) > 127) {
        return std::nullopt;
    }
    return a * b;
}

std::uint64_t saturate(Wide value) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    return value > kMax ? kMax : static_cast<std::uint64_t>(value);
}

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
