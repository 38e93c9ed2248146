// SPDX-License-Identifier: MIT
// Mean and worst of a few durations, and their output line.
#pragma once

#include "kernel/panic/console.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <string_view>

namespace bench {

class Statistics {
  public:
    constexpr Statistics() = default;

    // The time from `begin` to `end`, less the cost of reading the clock twice in succession.
    void add(lib::Ticks begin, lib::Ticks end, std::uint64_t overhead) {
        const std::uint64_t ticks = (end - begin).value;
        const std::uint64_t net = ticks > overhead ? ticks - overhead : 0;
        m_total += net;
        m_worst = net > m_worst ? net : m_worst;
        ++m_count;
    }

    // "figure OPERATION tasks N mean M worst W samples K"
    void print(std::string_view operation, std::uint64_t tasks) const {
        kernel::console().mark("figure ", operation, " tasks ", tasks, " mean ", m_count != 0 ? m_total / m_count : 0,
                               " worst ", m_worst, " samples ", m_count);
    }

  private:
    std::uint64_t m_total = 0;
    std::uint64_t m_worst = 0;
    std::uint64_t m_count = 0;
};

} // namespace bench
