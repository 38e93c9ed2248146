// SPDX-License-Identifier: MIT
// See response_time.hpp.
#include "kernel/sched/admission/response_time.hpp"

#include "kernel/sched/admission/processor_demand.hpp"
#include "kernel/sched/admission/utilisation.hpp"

#include <algorithm>
#include <limits>
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

} // namespace kernel
