// SPDX-License-Identifier: MIT
// The tracer measures itself: what a record costs on this machine while its family is enabled, while it is filtered,
// and while everything is disabled. The result is exported with every chunk (TraceCost in metadata.hpp), so that a
// reader can state how much of a run was spent on tracing.
//
// The measured code is the normal logging call, in a loop, once with few and once with many records. The difference of
// the two, less that of an empty loop, is the cost of the records alone. The best of several rounds counts, because a
// cold cache or the first translation of code is not part of a record's cost. So the figure is that of a warm path, a
// lower estimate.
//
// No effect remains: the records go to a scratch chunk that is emptied and deleted, and no count includes them. The
// chunk is written plainly or compactly, as those of the run will be.
#pragma once

#include "tracer/chunk/chunk_store.hpp"
#include "tracer/chunk/control.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <optional>

namespace tracer {

inline constexpr std::uint32_t kFewRecords = 16;
inline constexpr std::uint32_t kManyRecords = 80;
inline constexpr std::uint32_t kCostRoundsMin = 4;
inline constexpr std::uint32_t kCostRoundsMax = 16;

struct CostMeter {
    lib::Ticks (*now)() = nullptr;  // must not be null; a record is stamped with the same clock
    Exclusion exclusion{};          // interrupts off, for at most kManyRecords each time
    std::uint64_t budget_ticks = 0; // no round begins after this, except the first kCostRoundsMin
};

// Measures what a record costs, in a compact chunk if there is a layout; `cpu` is what GS points to. It returns 0
// rounds if the arena has no space for the scratch chunk. Precondition: recording is disabled, and no chunk is selected
// or active. Context: task or irq-off.
[[nodiscard]] TraceCost measure_cost(CpuTrace& cpu, ChunkStore& store, const CostMeter& meter,
                                     std::optional<compact::Layout> layout = std::nullopt);

} // namespace tracer
