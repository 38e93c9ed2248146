// SPDX-License-Identifier: MIT
// Declares the exact schedulability tests of one processor: that of fixed priorities, and that of EDF on what higher
// fixed priorities leave. Both are pure arithmetic, hosted or freestanding. Context: any.
#pragma once

#include "kernel/sched/admission/utilisation.hpp"

#include <cstdint>
#include <span>

namespace kernel {

// Computes the time that work takes below tasks of higher fixed priority, and whether a set with fixed priorities (a
// shorter relative deadline is a higher priority) keeps all deadlines. The test is exact for tasks that are released
// together in the worst case; a deferrable server counts as a task whose releases may be put off by period - budget.
// Context: any.
// Sources: Joseph, Pandya, "Finding response times in a real-time system" (1986); Audsley, Burns, Richardson, Tindell,
// Wellings, "Applying new scheduling theory to static priority pre-emptive scheduling" (1993); Strosnider, Lehoczky,
// Sha, "The deferrable server algorithm" (1995).
//
//   work + W(t) = t, least t:    W(t) = sum over what runs above of ceil((t + J) / T) * C

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

// Tests EDF exactly on what higher fixed priorities leave of one processor, in integers only. All releases are taken to
// coincide (the worst case: offsets are not used to admit more).
// Sources: Baruah, Rosier, Howell, "Algorithms and complexity concerning the preemptive scheduling of periodic,
// real-time tasks on one processor" (processor demand, 1990); Zhang, Burns, "Schedulability analysis for real-time
// systems with EDF scheduling" (QPA, 2009).
//
// With nothing above and every deadline equal to its period the test is sum(C/T) <= 1, decided exactly. Otherwise the
// work that is due in every interval must be done within it: the time that the work due by t takes below the higher
// tasks (response_time()) must not exceed t. Both grow with t, so QPA's jumps stay valid: if what is due by t is done
// at r < t, then so is everything due between r and t. Where the busy period is too long to examine (Steps), a
// sufficient condition decides: a straight line above all work (density_rounded_up) that does not exceed one.

// Returns whether EDF meets all deadlines of `tasks` below `above`, whose own deadlines are not tested. Precondition:
// every entry is within the ranges of Demand, and no task of `tasks` has a jitter.
[[nodiscard]] bool edf_feasible(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps);

// Tests only the demand in every interval, even where the utilisation would decide.
[[nodiscard]] bool demand_fits(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps);

} // namespace kernel
