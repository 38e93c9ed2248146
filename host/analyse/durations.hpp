// SPDX-License-Identifier: MIT
// Least, mean and greatest of many durations.
#pragma once

#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>

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

    // All 0 when count() is 0. The sum saturates at 2^64-1.
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

} // namespace host::analyse
