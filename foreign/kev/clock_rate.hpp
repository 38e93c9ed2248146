// SPDX-License-Identifier: MIT
// From cycles to nanoseconds, at any rate that a header may name.
#pragma once

#include "host/trace/facts.hpp"

#include <cstdint>
#include <limits>

namespace host::formats::kev {

// The rate in Hz, or 0 if it is not believed.
[[nodiscard]] constexpr std::uint64_t believed_hertz(std::uint64_t cycles_per_second) {
    const std::uint64_t khz = cycles_per_second / 1000;
    return khz >= trace::kTscKhzMin && khz <= trace::kTscKhzMax ? cycles_per_second : 0;
}

// Rounds down; saturates at 2^63-1. Precondition: hertz is not 0.
[[nodiscard]] constexpr std::int64_t nanoseconds(std::uint64_t ticks, std::uint64_t hertz) {
    __extension__ using Wide = unsigned __int128;
    const Wide time = static_cast<Wide>(ticks) * 1'000'000'000 / hertz;
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return time > static_cast<Wide>(kMax) ? kMax : static_cast<std::int64_t>(time);
}

// From `start`, negative before it.
[[nodiscard]] constexpr std::int64_t nanoseconds_since(std::uint64_t start, std::uint64_t ticks, std::uint64_t hertz) {
    return ticks < start ? -nanoseconds(start - ticks, hertz) : nanoseconds(ticks - start, hertz);
}

} // namespace host::formats::kev
