// SPDX-License-Identifier: MIT
// The exact schedulability test of EDF on one processor, in integers only. All releases are taken to coincide (the
// worst case: offsets are not used to admit more). Pure arithmetic, hosted or freestanding.
// Sources: Baruah, Rosier, Howell, "Algorithms and complexity concerning the preemptive scheduling of periodic,
// real-time tasks on one processor" (processor demand, 1990); Zhang, Burns, "Schedulability analysis for real-time
// systems with EDF scheduling" (QPA, 2009).
//
// With every deadline equal to its period the test is sum(C/T) <= 1, decided exactly over the periods' least common
// multiple. Where that does not fit 127 bits each C/T is rounded up at 2^-63: then a set within n * 2^-63 of
// saturation may be refused, but none admitted wrongly. With shorter deadlines the demand of every interval must fit
// it; where the busy period is too long to examine (kStepsMax), the sufficient condition sum(C/D) <= 1 decides.
#pragma once

#include <cstdint>
#include <span>

namespace kernel {

struct Demand {
    std::uint64_t wcet_ns = 0;     // 0 < wcet <= deadline
    std::uint64_t period_ns = 0;   // deadline <= period
    std::uint64_t deadline_ns = 0; // relative
};

// True if EDF meets all deadlines of the set. Precondition: every entry within the ranges above.
[[nodiscard]] bool edf_feasible(std::span<const Demand> tasks);

// The two halves, for the tests.
[[nodiscard]] bool utilisation_at_most_one(std::span<const Demand> tasks);
[[nodiscard]] bool demand_fits(std::span<const Demand> tasks);

} // namespace kernel
