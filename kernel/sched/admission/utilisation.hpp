// SPDX-License-Identifier: MIT
// Shares of the processor: their sum is compared with the whole, exactly where 127 bits allow it and rounded up where
// they do not. The same shares exist in the published unit, where 2^32-1 is the whole processor. Pure arithmetic.
// Context: any.
// Sources: Bini, Buttazzo, Buttazzo, "Rate monotonic analysis: the hyperbolic bound" (IEEE Transactions on Computers,
// 2003).
#pragma once

#include "kernel/sched/admission/demand.hpp"
#include "kernel/sched/admission/wide.hpp"

#include <cstdint>
#include <span>

namespace kernel {

// The published MAX_BANDWIDTH: the whole processor.
inline constexpr std::uint32_t kBandwidthMax = 0xFFFF'FFFF;

// Returns wcet / period in units of 1 / kBandwidthMax, rounded up. Precondition: 0 < wcet <= period.
[[nodiscard]] std::uint32_t bandwidth_of(std::uint64_t wcet_ns, std::uint64_t period_ns);

// Returns a / b in units of 2^-63, rounded up, at most 2^127. Precondition: b != 0.
[[nodiscard]] Wide share_rounded_up(std::uint64_t a, std::uint64_t b);

// Returns whether sum(C/T) <= 1, as a fraction over the periods' least common multiple. Where that does not fit 127
// bits each C/T is rounded up at 2^-63: a set within n * 2^-63 of the whole may then be refused, but none is accepted
// wrongly.
[[nodiscard]] bool utilisation_at_most_one(std::span<const Demand> tasks);

// Returns a straight line above the work of all tasks in every interval that is not shorter than the shortest deadline
// of `own`: sum(C/D) of `own`, and C/T + C/Dmin, twice the latter with jitter, of what runs above. It is in units of
// 2^-63, each term rounded up, and saturates far above one.
[[nodiscard]] Wide density_rounded_up(std::span<const Demand> own, std::span<const Demand> above);

inline constexpr Wide kDensityOne = Wide{1} << 63;

// Tests product(C/T + 1) <= 2: fixed priorities by period then keep every deadline that equals its period. The verdict
// is fits or unknown.
[[nodiscard]] Verdict hyperbolic_bound(std::span<const Demand> tasks);

} // namespace kernel
