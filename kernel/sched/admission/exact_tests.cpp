// SPDX-License-Identifier: MIT
// Implements the tests by response time and by processor demand.
#include "kernel/sched/admission/exact_tests.hpp"

#include "kernel/sched/admission/utilisation.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace kernel {

namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

bool periods_are_deadlines(std::span<const Demand> tasks) {
    return std::ranges::all_of(
        tasks, [](const Demand& task) { return task.deadline_ns == task.period_ns && task.jitter_ns == 0; });
}

// Counts the tasks with the deadline of the task at `first`.
std::size_t count_of_equals(std::span<const Demand> tasks, std::size_t first) {
    std::size_t end = first;
    while (end < tasks.size() && tasks[end].deadline_ns == tasks[first].deadline_ns) {
        ++end;
    }
    return end - first;
}

bool meets_deadline(const Demand& task, std::span<const Demand> above, Steps& steps) {
    const std::uint64_t at_deadline = work_until(above, task.deadline_ns);
    if (at_deadline <= task.deadline_ns && task.wcet_ns <= task.deadline_ns - at_deadline) {
        return true;
    }
    return response_time(task.wcet_ns, above, task.deadline_ns, steps).verdict == Verdict::fits;
}

// Tests the tasks of one priority, at the end of `down_to`. If a deferrable server is among them, each one is tested as
// if all others ran above it. That is safe, and exact except in the rare set in which the tie decides.
bool equals_feasible(std::span<Demand> equals, std::span<const Demand> down_to, Steps& steps) {
    const auto above = down_to.first(down_to.size() - equals.size());
    if (equals.size() == 1) {
        return meets_deadline(equals.front(), above, steps);
    }
    if (std::ranges::none_of(equals, [](const Demand& task) { return task.jitter_ns != 0; })) {
        return demand_fits(equals, above, steps);
    }
    for (Demand& task : equals) {
        std::swap(task, equals.back());
        if (!meets_deadline(equals.back(), down_to.first(down_to.size() - 1), steps)) {
            return false;
        }
        std::swap(task, equals.back());
    }
    return true;
}

} // namespace

std::uint64_t work_until(std::span<const Demand> tasks, std::uint64_t t) {
    Wide sum = 0;
    for (const Demand& task : tasks) {
        const Wide span = Wide{t} + task.jitter_ns;
        sum += divide_up(span, task.period_ns) * task.wcet_ns;
    }
    return saturate(sum);
}

Response response_time(std::uint64_t work, std::span<const Demand> above, std::uint64_t limit, Steps& steps) {
    std::uint64_t t = work;
    while (t <= limit) {
        if (!steps.take()) {
            return {Verdict::unknown, 0};
        }
        const std::uint64_t interfering = work_until(above, t);
        const std::uint64_t needed = interfering > kUnbounded - work ? kUnbounded : work + interfering;
        if (needed <= t) {
            return {Verdict::fits, t};
        }
        t = needed;
    }
    return {Verdict::exceeds, 0};
}

bool fixed_priority_feasible(std::span<Demand> tasks, Steps& steps) {
    if (!utilisation_at_most_one(tasks)) {
        return false;
    }
    if (periods_are_deadlines(tasks) && hyperbolic_bound(tasks) == Verdict::fits) {
        return true;
    }
    for (std::size_t first = 0; first < tasks.size();) {
        const std::size_t count = count_of_equals(tasks, first);
        if (!equals_feasible(tasks.subspan(first, count), tasks.first(first + count), steps)) {
            return false;
        }
        first += count;
    }
    return true;
}

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
    // The exact test knows work by its deadlines only, but a server's work may be due at any time.
    if (std::ranges::any_of(tasks, &Demand::server)) {
        return density_rounded_up(tasks, above) <= kDensityOne;
    }
    return demand_fits(tasks, above, steps);
}

} // namespace kernel
