// SPDX-License-Identifier: MIT
#include "host/analyse/tracing_share.hpp"

namespace host::analyse {

namespace {

constexpr double kPart = 256;

lib::Ticks time_of(double ticks) {
    constexpr double kMost = 1e19;
    return {static_cast<std::uint64_t>(ticks < kMost ? ticks : kMost)};
}

} // namespace

std::optional<lib::Ticks> tracing_time(const std::optional<tracer::TraceCost>& cost, std::uint64_t records) {
    return cost && cost->rounds != 0
               ? std::optional(time_of(static_cast<double>(records) * (cost->enabled_ticks_x256 / kPart)))
               : std::nullopt;
}

std::optional<TracingShare> tracing_share(const std::optional<tracer::TraceCost>& cost, std::uint64_t records,
                                          lib::Ticks duration, std::size_t cpus, lib::Ticks removed) {
    if (!cost || cost->rounds == 0) {
        return std::nullopt;
    }
    TracingShare result;
    result.records = records;
    result.ticks_per_record = static_cast<double>(cost->enabled_ticks_x256) / kPart;
    // Fits a u64 for any trace that a machine can hold: 2^40 records of 2^24 ticks each.
    const double ticks = static_cast<double>(records) * result.ticks_per_record;
    result.time = time_of(ticks);
    const double whole =
        static_cast<double>(duration.value) * static_cast<double>(cpus) + static_cast<double>(removed.value);
    if (whole > 0) {
        result.share = ticks / whole;
    }
    return result;
}

} // namespace host::analyse
