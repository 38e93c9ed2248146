// SPDX-License-Identifier: MIT
// Records have room for 32 bits of a time. The other half follows from a time nearby: of all 64-bit times with the
// recorded low half, the nearest one is meant.
#pragma once

#include <cstdint>
#include <limits>

namespace host::trace {

// How far the nearest time with this low half is from `about`: -2^31 to 2^31-1 units.
[[nodiscard]] constexpr std::int64_t distance_to_nearest(std::uint32_t low, std::uint64_t about) {
    return static_cast<std::int32_t>(low - static_cast<std::uint32_t>(about));
}

// The time itself. No time is below 0 or above 2^64-1: where the nearest one would be, it is `low`.
[[nodiscard]] constexpr std::uint64_t nearest_time(std::uint32_t low, std::uint64_t about) {
    const std::int64_t distance = distance_to_nearest(low, about);
    const auto forward = static_cast<std::uint64_t>(distance);
    const bool is_out_of_range =
        distance < 0 ? about < 0 - forward : about > std::numeric_limits<std::uint64_t>::max() - forward;
    return is_out_of_range ? low : about + forward;
}

static_assert(nearest_time(2, 0x1'FFFF'FFFF) == 0x2'0000'0002);
static_assert(nearest_time(0xFFFF'FFFF, 0x2'0000'0000) == 0x1'FFFF'FFFF);
static_assert(nearest_time(0xFFFF'FFFF, 0) == 0xFFFF'FFFF);

} // namespace host::trace
