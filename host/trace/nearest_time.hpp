// SPDX-License-Identifier: MIT
// Records have room for 32 bits of a time. The other half follows from a time nearby: of all 64-bit times with the
// recorded low half, the nearest one is meant; of a time that is known to be past, or to come, the next one in that
// direction, so that it may be 2^32-1 units away.
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

// The latest time with this low half that is not after `last`. As above.
[[nodiscard]] constexpr std::uint64_t latest_time(std::uint32_t low, std::uint64_t last) {
    const std::uint32_t back = static_cast<std::uint32_t>(last) - low;
    return back > last ? low : last - back;
}

// The first time with this low half that is not before `first`. As above.
[[nodiscard]] constexpr std::uint64_t first_time(std::uint32_t low, std::uint64_t first) {
    const std::uint32_t forward = low - static_cast<std::uint32_t>(first);
    return forward > std::numeric_limits<std::uint64_t>::max() - first ? low : first + forward;
}

// The kernel records a release when it has happened: it is past, however late the record is written. But it computes
// the time from nanoseconds, and its timer may fire early: by rounding, by a step of the timer, by the error of the
// clock's rate. Sixteen million ticks are milliseconds of the fastest processors, which is more than all of these.
inline constexpr std::uint64_t kReleaseEarlyTicks = 1 << 24;

// The release with this low half whose record has this stamp.
[[nodiscard]] constexpr std::uint64_t release_time(std::uint32_t low, std::uint64_t stamp) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - stamp;
    return latest_time(low, stamp + (room < kReleaseEarlyTicks ? room : kReleaseEarlyTicks));
}

static_assert(nearest_time(2, 0x1'FFFF'FFFF) == 0x2'0000'0002);
static_assert(nearest_time(0xFFFF'FFFF, 0x2'0000'0000) == 0x1'FFFF'FFFF);
static_assert(nearest_time(0xFFFF'FFFF, 0) == 0xFFFF'FFFF);
static_assert(latest_time(5, 0x2'0000'0005) == 0x2'0000'0005 && latest_time(6, 0x2'0000'0005) == 0x1'0000'0006);
static_assert(latest_time(6, 5) == 6);
static_assert(first_time(5, 0x2'0000'0005) == 0x2'0000'0005 && first_time(4, 0x2'0000'0005) == 0x3'0000'0004);
static_assert(first_time(0, ~std::uint64_t{0}) == 0);

} // namespace host::trace
