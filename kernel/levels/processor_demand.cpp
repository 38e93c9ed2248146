// SPDX-License-Identifier: MIT
// See processor_demand.hpp. Division of 128-bit numbers is done bit by bit: the freestanding build has no library
// routine for it, and admission is no hot path.
#include "kernel/levels/processor_demand.hpp"

#include <bit>
#include <limits>
#include <optional>

namespace kernel {

namespace {

__extension__ using Wide = unsigned __int128;

// Steps of either fixed-point iteration; each is O(tasks).
constexpr int kStepsMax = 500; // interrupts are off meanwhile

int bit_width(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                     : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

struct Division {
    Wide quotient = 0;
    std::uint64_t remainder = 0;
};

// Precondition: 0 < divisor.
Division divide(Wide dividend, std::uint64_t divisor) {
    Division result;
    Wide remainder = 0;
    for (int bit = bit_width(dividend) - 1; bit >= 0; --bit) {
        remainder = (remainder << 1) | ((dividend >> bit) & 1U);
        result.quotient <<= 1;
        if (remainder >= divisor) {
            remainder -= divisor;
            result.quotient |= 1U;
        }
    }
    result.remainder = static_cast<std::uint64_t>(remainder);
    return result;
}

std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b) {
    while (b != 0) {
        const std::uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Empty if the product might not fit 127 bits, which leaves room for one addition.
std::optional<Wide> multiply(Wide a, Wide b) {
    if (bit_width(a) + bit_width(b) > 127) {
        return std::nullopt;
    }
    return a * b;
}

enum class Verdict : std::uint8_t {
    fits,
    exceeds,
    unknown,
};

// The sum as a fraction over the least common multiple so far.
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

// Every fraction rounded up to a multiple of 2^-63; each is at most 1, so that the sum cannot overflow 128 bits.
bool rounded_up_sum_at_most_one(std::span<const Demand> tasks, std::uint64_t Demand::*denominator) {
    constexpr Wide kOne = Wide{1} << 63;
    Wide sum = 0;
    for (const Demand& task : tasks) {
        const Division share = divide(Wide{task.wcet_ns} << 63, task.*denominator);
        sum += share.quotient + (share.remainder != 0 ? 1U : 0U);
        if (sum > kOne) {
            return false;
        }
    }
    return true;
}

std::optional<std::uint64_t> narrow(Wide value) {
    if (value > std::numeric_limits<std::uint64_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(value);
}

// Work released and due within any interval of length t that starts with a simultaneous release.
std::optional<std::uint64_t> demand_until(std::span<const Demand> tasks, std::uint64_t t) {
    Wide sum = 0;
    for (const Demand& task : tasks) {
        if (t >= task.deadline_ns) {
            sum += Wide{(t - task.deadline_ns) / task.period_ns + 1} * task.wcet_ns;
        }
    }
    return narrow(sum);
}

// How long the processor is busy after a simultaneous release of everything. Empty if that cannot be told within
// kStepsMax steps or 64 bits.
std::optional<std::uint64_t> busy_period(std::span<const Demand> tasks) {
    Wide initial = 0;
    for (const Demand& task : tasks) {
        initial += task.wcet_ns;
    }
    auto length = narrow(initial);
    for (int step = 0; length && step < kStepsMax; ++step) {
        Wide work = 0;
        for (const Demand& task : tasks) {
            const std::uint64_t releases = *length / task.period_ns + (*length % task.period_ns != 0 ? 1U : 0U);
            work += Wide{releases} * task.wcet_ns;
        }
        if (work == *length) {
            return length;
        }
        length = narrow(work);
    }
    return std::nullopt;
}

// The latest absolute deadline before t; 0 if there is none.
std::uint64_t deadline_before(std::span<const Demand> tasks, std::uint64_t t) {
    std::uint64_t latest = 0;
    for (const Demand& task : tasks) {
        if (task.deadline_ns < t) {
            const std::uint64_t deadline =
                (t - 1 - task.deadline_ns) / task.period_ns * task.period_ns + task.deadline_ns;
            latest = deadline > latest ? deadline : latest;
        }
    }
    return latest;
}

// QPA: walks down from the end of the busy period, jumping over every interval that a demand already proves.
Verdict quick_processor_demand(std::span<const Demand> tasks) {
    const auto busy = busy_period(tasks);
    if (!busy) {
        return Verdict::unknown;
    }
    std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
    for (const Demand& task : tasks) {
        earliest = task.deadline_ns < earliest ? task.deadline_ns : earliest;
    }
    std::uint64_t t = deadline_before(tasks, *busy);
    for (int step = 0; step < kStepsMax; ++step) {
        if (t < earliest) {
            return Verdict::fits; // no deadline is left below
        }
        const auto demand = demand_until(tasks, t);
        if (!demand || *demand > t) {
            return Verdict::exceeds;
        }
        if (*demand <= earliest) {
            return Verdict::fits;
        }
        t = *demand < t ? *demand : deadline_before(tasks, t);
    }
    return Verdict::unknown;
}

} // namespace

bool utilisation_at_most_one(std::span<const Demand> tasks) {
    switch (exact_utilisation(tasks)) {
    case Verdict::fits:
        return true;
    case Verdict::exceeds:
        return false;
    case Verdict::unknown:
        break;
    }
    return rounded_up_sum_at_most_one(tasks, &Demand::period_ns);
}

bool demand_fits(std::span<const Demand> tasks) {
    switch (quick_processor_demand(tasks)) {
    case Verdict::fits:
        return true;
    case Verdict::exceeds:
        return false;
    case Verdict::unknown:
        break;
    }
    return rounded_up_sum_at_most_one(tasks, &Demand::deadline_ns);
}

bool edf_feasible(std::span<const Demand> tasks) {
    if (!utilisation_at_most_one(tasks)) {
        return false;
    }
    for (const Demand& task : tasks) {
        if (task.deadline_ns != task.period_ns) {
            return demand_fits(tasks);
        }
    }
    return true;
}

} // namespace kernel
