// SPDX-License-Identifier: MIT
// Provides work that takes a stated processor time, and pseudo-random numbers that depend only on the seed.
//
// compute() counts the task's own processor time, not wall time: preemption makes it end later, but not do less work.
// There is a fixed number of steps between two reads of the clock, so with one clock tick per instruction the same call
// always takes the same number of instructions; on any other clock it takes the stated time, within one read.
#pragma once

#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace apps {

// Generates numbers by xorshift64: Marsaglia, "Xorshift RNGs" (2003).
class Random {
  public:
    constexpr explicit Random(std::uint64_t seed)
        : m_state(seed * 0x9E37'79B9'7F4A'7C15 + 1) {}

    constexpr std::uint64_t next() {
        m_state ^= m_state << 13;
        m_state ^= m_state >> 7;
        m_state ^= m_state << 17;
        return m_state;
    }

    // Returns a number of this range. Precondition: least <= most.
    constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + next() % (most - least + 1);
    }

  private:
    std::uint64_t m_state;
};

inline constexpr int kStepsPerLook = 64;

// Computes for this processor time. The result is returned so that the compiler cannot remove the steps. Context: task.
inline std::uint64_t compute(lib::Nanoseconds time) {
    const lib::Ticks end = kernel::task_cpu_time() + kernel::to_ticks(time);
    std::uint64_t value = 1;
    while (kernel::task_cpu_time() < end) {
        for (int step = 0; step < kStepsPerLook; ++step) {
            asm volatile("" : "+r"(value)); // keeps the optimiser from merging steps
            value = value * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        }
    }
    return value;
}

} // namespace apps
