// SPDX-License-Identifier: MIT
// The exact schedulability test of EDF on what higher fixed priorities leave of one processor, in integers only. All
// releases are taken to coincide (the worst case: offsets are not used to admit more). Pure arithmetic, hosted or
// freestanding.
// Sources: Baruah, Rosier, Howell, "Algorithms and complexity concerning the preemptive scheduling of periodic,
// real-time tasks on one processor" (processor demand, 1990); Zhang, Burns, "Schedulability analysis for real-time
// systems with EDF scheduling" (QPA, 2009).
//
// With nothing above and every deadline equal to its period the test is sum(C/T) <= 1, decided exactly. Otherwise the
// work that is due in every interval must be done within it: the time that the work due by t takes below the higher
// tasks (response_time.hpp) must not exceed t. Both grow with t, so QPA's jumps stay valid: if what is due by t is done
// at r < t, then so is everything due between r and t. Where the busy period is too long to examine (Steps), a
// sufficient condition decides: a straight line above all work (density_rounded_up) that does not exceed one.
#pragma once

#include "kernel/sched/admission/demand.hpp"

#include <span>

namespace kernel {

// Returns whether EDF meets all deadlines of `tasks` below `above`, whose own deadlines are not tested. Precondition:
// every entry is within the ranges of Demand, and no task of `tasks` has a jitter.
[[nodiscard]] bool edf_feasible(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps);

// Tests the demand in every interval alone, also where the utilisation would decide.
[[nodiscard]] bool demand_fits(std::span<const Demand> tasks, std::span<const Demand> above, Steps& steps);

} // namespace kernel
