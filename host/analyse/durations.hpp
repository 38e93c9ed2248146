// SPDX-License-Identifier: MIT
// Computes the least, the mean and the greatest of many durations, and percentiles.
#pragma once

#include "lib/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace host::analyse {

class Durations {
  public:
    void add(lib::Ticks duration) {
        ++m_count;
        m_sum.value = m_sum.value > ~duration.value ? ~std::uint64_t{0} : m_sum.value + duration.value;
        m_least = std::min(m_least, duration);
        m_greatest = std::max(m_greatest, duration);
    }

    [[nodiscard]] std::uint64_t count() const { return m_count; }

    // The following values are 0 if count() is 0. The sum saturates at 2^64-1.
    [[nodiscard]] lib::Ticks least() const { return m_count != 0 ? m_least : lib::Ticks{}; }

    [[nodiscard]] lib::Ticks mean() const { return {m_count != 0 ? m_sum.value / m_count : 0}; }

    [[nodiscard]] lib::Ticks greatest() const { return m_greatest; }

    [[nodiscard]] lib::Ticks sum() const { return m_sum; }

  private:
    std::uint64_t m_count = 0;
    lib::Ticks m_sum;
    lib::Ticks m_least{~std::uint64_t{0}};
    lib::Ticks m_greatest;
};

// The p-th percentile by the nearest rank is the least value that is not exceeded by at least p per cent of all values
// (docs/metrics.md). It is always one of the values, never between two.

// Returns the position in ascending order, from 0. count must not be 0; percent: 0 to 100.
[[nodiscard]] inline std::size_t nearest_rank(std::size_t count, double percent) {
    constexpr double kRounding = 1e-9; // so that 99.9 % of 1000 is the 999th
    const double rank = std::ceil(percent * static_cast<double>(count) / 100 - kRounding);
    return rank < 1 ? 0 : std::min(count, static_cast<std::size_t>(rank)) - 1;
}

// Changes the order of the values. Precondition: there is at least one.
template <typename T>
[[nodiscard]] T percentile(std::span<T> values, double percent) {
    const auto found = values.begin() + static_cast<std::ptrdiff_t>(nearest_rank(values.size(), percent));
    std::nth_element(values.begin(), found, values.end());
    return *found;
}

} // namespace host::analyse
