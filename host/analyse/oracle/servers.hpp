// SPDX-License-Identifier: MIT
// What the theories of servers share: the time for which each server's place was used, by its task or on its behalf,
// plain and scaled by the active bandwidth, since its budget was last recorded; and the records that explain that
// budget.
#pragma once

#include "host/analyse/oracle/theory.hpp"

#include <map>

namespace host::analyse::oracle {

inline constexpr std::uint64_t kWholeProcessor = 0xFFFF'FFFF; // bandwidths are fractions of this

// value * numerator / denominator, rounded up.
[[nodiscard]] std::uint64_t scaled_up(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator);

struct Use {
    std::uint64_t ran = 0;
    std::uint64_t charged = 0; // ran, scaled by the active bandwidth
    std::uint64_t intervals = 0;
    bool known = false; // since a budget was recorded
};

class ServerMeter : public Theory {
  public:
    using Theory::Theory;

    // Counts what is running up to this stamp. Must be called before any event that ends an interval, changes a rate
    // or records a budget.
    void flush(std::uint64_t now);

    // The budget was recorded: counts anew.
    void restart(std::uint16_t server);

    void set_bandwidth(std::uint64_t bandwidth) { m_bandwidth = bandwidth; }

    [[nodiscard]] const std::optional<std::uint64_t>& bandwidth() const { return m_bandwidth; }

    [[nodiscard]] const Use& use(std::uint16_t server) { return m_uses[server]; }

    void forget();

  private:
    std::map<std::uint16_t, Use> m_uses;
    std::optional<std::uint64_t> m_bandwidth;
    std::uint64_t m_counted_to = 0;
};

} // namespace host::analyse::oracle
