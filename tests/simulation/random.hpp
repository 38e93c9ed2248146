// SPDX-License-Identifier: MIT
// The one source of chance in a simulated run: the same seed gives the same run. Algorithm: splitmix64 (Steele, Lea and
// Flood, 2014).
#pragma once

#include <cstdint>

namespace simulation {

class Random {
  public:
    explicit Random(std::uint64_t seed)
        : m_state(seed) {}

    std::uint64_t next() {
        std::uint64_t mixed = m_state += 0x9E37'79B9'7F4A'7C15;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58'476D'1CE4'E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D0'49BB'1331'11EB;
        return mixed ^ (mixed >> 31);
    }

    // first..last, both included.
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + next() % (last - first + 1); }

    bool chance(double probability) { return static_cast<double>(next() >> 11) * 0x1p-53 < probability; }

  private:
    std::uint64_t m_state;
};

} // namespace simulation
