// SPDX-License-Identifier: MIT
// Which part of a run the tracing itself took: records x the cost of one, as the tracer measured it at boot, over the
// time that the trace spans. An estimate: the cost is that of a warm path, and records that were dropped, filtered or
// overwritten cost time, too, without being here. If the clock was set back, the time that was removed from it is part
// of the run.
#pragma once

#include "host/trace/facts.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace host::analyse {

struct TracingShare {
    std::uint64_t records = 0;
    double ticks_per_record = 0;
    lib::Ticks time;             // all records together, rounded down
    std::optional<double> share; // of the processors' time, 0 to 1 and beyond; none if the trace spans no time
};

// Of so many records, rounded down. Nothing if the trace does not record the cost.
[[nodiscard]] std::optional<lib::Ticks> tracing_time(const std::optional<tracer::TraceCost>& cost,
                                                     std::uint64_t records);

// Nothing if the trace does not record the cost. removed: Compensation::removed_meanwhile.
[[nodiscard]] std::optional<TracingShare> tracing_share(const std::optional<tracer::TraceCost>& cost,
                                                        std::uint64_t records, lib::Ticks duration, std::size_t cpus,
                                                        lib::Ticks removed = {});

} // namespace host::analyse
