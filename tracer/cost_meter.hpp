// SPDX-License-Identifier: MIT
// The tracer measures itself: what a record costs on this machine while its family is enabled, filtered, or everything
// is disabled. The result travels in front of every chunk (TraceCost in metadata.hpp), so that a reader can tell which
// part of a run was the tracing.
//
// What is timed is the very call that everybody logs with, in a loop, once with few and once with many records: the
// difference of the two, less that of an empty loop, holds nothing but records. The best of several rounds counts,
// because a cold cache or a translator's first look is not what a record costs. So the figure is that of a warm path, a
// lower estimate.
//
// It leaves nothing behind: the records go to a scratch chunk that is emptied and deleted, and no count knows of them.
#pragma once

#include "tracer/chunk_store.hpp"
#include "tracer/control.hpp"
#include "tracer/metadata.hpp"

#include <cstdint>

namespace tracer {

inline constexpr std::uint32_t kFewRecords = 16;
inline constexpr std::uint32_t kManyRecords = 80;
inline constexpr std::uint32_t kCostRoundsMin = 4;
inline constexpr std::uint32_t kCostRoundsMax = 16;

struct CostMeter {
    lib::Ticks (*now)() = nullptr;  // must not be null; a record is stamped with the same clock
    Exclusion exclusion{};          // interrupts off, for at most kManyRecords at a time
    std::uint64_t budget_ticks = 0; // later than this no round begins but the first kCostRoundsMin
};

// `cpu` is where GS points. Precondition: disabled, and nothing selected or active. Rounds are 0, and nothing is known,
// if the arena has no room for the scratch chunk. Task context or irq-off.
[[nodiscard]] TraceCost measure_cost(CpuTrace& cpu, ChunkStore& store, const CostMeter& meter);

} // namespace tracer
