// SPDX-License-Identifier: MIT
// See processor_demand.hpp.
#include "kernel/sched/admission/processor_demand.hpp"

#include "kernel/sched/admission/response_time.hpp"
#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/sched/admission/wide.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace kernel {

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

// Returns the work that is released and due within any interval of length t that starts with a simultaneous release. It
// saturates.
std::uint64_t demand_until(std::span<const Demand> tasks, std::uint64_t t) {
    Wide sum = 0;
    for (const Demand& task : tasks) {
        if (t >= task.deadline_ns) {
            sum += Wide{(t - task.deadline_ns) / task.period_ns + 1} * task.wcet_ns;
        }
    }
    return saturate(sum);
}

// Returns how long the processor is busy after a simultaneous release of everything, or nothing if the steps or 64 bits
// do not suffice.
std::optional<std::uint64_t> busy_period(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps) {
    std::uint64_t length = 1;
    while (steps.take()) {
        const Wide work = Wide{work_until(tasks, length)} + work_until(above, length);
        if (work >= kNever) {
            return std::nullopt;
        }
        if (work <= length) {
            return length;
        }
        length = static_cast<std::uint64_t>(work);
    }
    return std::nullopt;
}

// Returns the latest absolute deadline before t, or 0 if there is none.
std::uint64_t deadline_before(std::span<const Demand> tasks, std::uint64_t t) {
    std::uint64_t latest = 0;
    for (const Demand& task : tasks) {
        if (task.deadline_ns < t) {
            const std::uint64_t deadline =
                (t - 1 - task.deadline_ns) / task.period_ns * task.period_ns + task.deadline_ns;
            latest = std::max(latest, deadline);
        }
    }
    return latest;
}

// QPA walks down from the end of the busy period, and jumps over every interval that a demand already proves.
Verdict quick_processor_demand(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps) {
    const auto busy = busy_period(tasks, above, steps);
    if (!busy) {
        return Verdict::unknown;
    }
    const std::uint64_t earliest = std::ranges::min_element(tasks, {}, &Demand::deadline_ns)->deadline_ns;
    std::uint64_t t = deadline_before(tasks, *busy);
    while (steps.take()) {
        if (t < earliest) {
            return Verdict::fits; // no deadline is left below
        }
        const Response done = response_time(demand_until(tasks, t), above, t, steps);
        if (done.verdict != Verdict::fits) {
            return done.verdict;
        }
        if (done.time_ns <= earliest) {
            return Verdict::fits;
        }
        t = done.time_ns < t ? done.time_ns : deadline_before(tasks, t);
    }
    return Verdict::unknown;
}

} // namespace

bool demand_fits(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps) {
    if (tasks.empty()) {
        return true;
    }
    switch (quick_processor_demand(tasks, above, steps)) {
    case Verdict::fits:
        return true;
    case Verdict::exceeds:
        return false;
    case Verdict::unknown:
        break;
    }
    return density_rounded_up(tasks, above) <= kDensityOne;
}

bool edf_feasible(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps) {
    const bool implicit =
        std::ranges::all_of(tasks, [](const Demand& task) { return task.deadline_ns == task.period_ns; });
    if (!utilisation_at_most_one(tasks)) {
        return false;
    }
    if (above.empty() && implicit) {
        return true;
    }
    // The exact test knows work by its deadlines only; a server's may be due at any time of its line.
    if (std::ranges::any_of(tasks, &Demand::server)) {
        return density_rounded_up(tasks, above) <= kDensityOne;
    }
    return demand_fits(tasks, above, steps);
}

} // namespace kernel
