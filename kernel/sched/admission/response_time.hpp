// SPDX-License-Identifier: MIT
// How long work takes below tasks of higher fixed priority, and whether a set with fixed priorities (the shorter the
// relative deadline, the higher) keeps all deadlines. Exact for tasks that are released together in the worst case;
// a deferrable server counts as a task whose releases may be put off by period - budget. Pure arithmetic. Context: any.
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

// What the tasks may ask for in an interval [0, t) that begins with a release of all of them. Saturates.
[[nodiscard]] std::uint64_t work_until(std::span<const Demand> tasks, std::uint64_t t);

struct Response {
    Verdict verdict = Verdict::unknown;
    std::uint64_t time_ns = 0; // if it fits
};

// The least time in which `work` is done below `above`: fits, if not later than the limit; exceeds; unknown when the
// steps ran out.
[[nodiscard]] Response response_time(std::uint64_t work, std::span<const Demand> above, std::uint64_t limit,
                                     Steps& steps);

// Whether every task meets its deadline. Equal deadlines run in the order of release, which among them is EDF.
// Precondition: in ascending order of deadline_ns, which stays so; equals may change places. Where the steps run out
// the sufficient condition work + W(D) <= D decides for the task in question, so that a set may be refused, but none
// accepted wrongly.
[[nodiscard]] bool fixed_priority_feasible(std::span<Demand> tasks, Steps& steps);

} // namespace kernel
