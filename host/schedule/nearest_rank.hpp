// SPDX-License-Identifier: MIT
// Percentiles by the nearest rank: the least value that is not exceeded by at least so many per cent of all values
// (docs/metrics.md). It is one of the values, never one between two.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace host::schedule {

// The position in rising order, from 0. count: not 0. percent: 0 to 100.
[[nodiscard]] inline std::size_t nearest_rank(std::size_t count, double percent) {
    constexpr double kRounding = 1e-9; // 99.9 % of 1000 is the 999th
    const double rank = std::ceil(percent * static_cast<double>(count) / 100 - kRounding);
    return rank < 1 ? 0 : std::min(count, static_cast<std::size_t>(rank)) - 1;
}

// Changes the order of the values, of which there is one at least.
template <typename T>
[[nodiscard]] T percentile(std::span<T> values, double percent) {
    const auto found = values.begin() + static_cast<std::ptrdiff_t>(nearest_rank(values.size(), percent));
    std::nth_element(values.begin(), found, values.end());
    return *found;
}

} // namespace host::schedule
