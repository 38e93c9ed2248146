// SPDX-License-Identifier: MIT
// The time that work takes below tasks of higher fixed priority, and whether a set with fixed priorities (a shorter
// relative deadline is a higher priority) keeps all deadlines. The test is exact for tasks that are released together
// in the worst case; a deferrable server counts as a task whose releases may be put off by period - budget. Pure
// arithmetic. Context: any.
// Sources: Joseph, Pandya, "Finding response times in a real-time system" (1986); Audsley, Burns, Richardson, Tindell,
// Wellings, "Applying new scheduling theory to static priority pre-emptive scheduling" (1993); Strosnider, Lehoczky,
// Sha, "The deferrable server algorithm" (1995).
//
//   work + W(t) = t, least t:    W(t) = sum over what runs above of ceil((t + J) / T) * C
#pragma once

#include "kernel/sched/admission/demand.hpp"

#include <cstdint>
#include <span>

namespace kernel {

// Returns what the tasks may ask for in an interval [0, t) that begins with a release of all of them. It saturates.
[[nodiscard]] std::uint64_t work_until(std::span<const Demand> tasks, std::uint64_t t);

struct Response {
    Verdict verdict = Verdict::unknown;
    std::uint64_t time_ns = 0; // if it fits
};

// Returns the least time in which `work` is done below `above`. The verdict is fits if that is not later than the
// limit, else exceeds; it is unknown if the steps ran out.
[[nodiscard]] Response response_time(std::uint64_t work, std::span<const Demand> above, std::uint64_t limit,
                                     Steps& steps);

// Returns whether every task meets its deadline. Equal deadlines run in the order of release, which among them is EDF.
// Precondition: the tasks are in ascending order of deadline_ns, which stays so; equal ones may change places. Where
// the steps run out the sufficient condition work + W(D) <= D decides for the task in question, so that a set may be
// refused, but none accepted wrongly.
[[nodiscard]] bool fixed_priority_feasible(std::span<Demand> tasks, Steps& steps);

} // namespace kernel
