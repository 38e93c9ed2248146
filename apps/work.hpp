// SPDX-License-Identifier: MIT
// Work that takes a stated time of the processor, and numbers that look random but come from the seed alone.
//
// compute() counts the task's own processor time, not the time of day: being preempted makes it end later, not work
// less. Between two looks at the clock lies a fixed number of steps, so with one clock tick per instruction the same
// call always takes the same number of instructions; on any other clock it takes the stated time, give or take a look.
#pragma once

#include "kernel/clock.hpp"
#include "kernel/task.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace apps {

// xorshift64: Marsaglia, "Xorshift RNGs" (2003).
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

    // Precondition: least <= most.
    constexpr std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + next() % (most - least + 1);
    }

  private:
    std::uint64_t m_state;
};

inline constexpr int kStepsPerLook = 64;

// The result of the steps is returned so that nobody can leave them out. Context: task.
inline std::uint64_t compute(lib::Nanoseconds time) {
    const lib::Ticks end = kernel::task_cpu_time() + kernel::to_ticks(time);
    std::uint64_t value = 1;
    while (kernel::task_cpu_time() < end) {
        for (int step = 0; step < kStepsPerLook; ++step) {
            asm volatile("" : "+r"(value)); // one step stays one step, whatever the optimiser knows
            value = value * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        }
    }
    return value;
}

} // namespace apps
