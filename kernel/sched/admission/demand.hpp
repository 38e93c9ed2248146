// SPDX-License-Identifier: MIT
// The demand of a task or a server as the admission tests see it, and the possible answers of a test.
#pragma once

#include <cstdint>

namespace kernel {

struct Demand {
    std::uint64_t wcet_ns = 0;     // 0 < wcet <= deadline
    std::uint64_t period_ns = 0;   // deadline <= period
    std::uint64_t deadline_ns = 0; // relative; also the priority where priorities are fixed: the shorter, the higher
    std::uint64_t jitter_ns = 0;   // how long a release may be put off: of a deferrable server, else 0
    // True for a constant bandwidth server: its demand in an interval is bounded by the interval's length times wcet /
    // period alone. It may come back with an old deadline and the rest of an old budget, so that work is due sooner
    // than a whole period after the interval's begin.
    bool server = false;

    friend constexpr bool operator==(const Demand&, const Demand&) = default;
};

enum class Claim : std::uint8_t {
    none,
    fixed,    // priority by relative deadline
    deadline, // EDF
};

enum class Verdict : std::uint8_t {
    fits,
    exceeds,
    unknown, // not within the bound on steps, or not within 127 bits
};

// Every test counts its steps in one of these, so that each test ends, whatever the set is. A step takes
// O(reservations).
struct Steps {
    std::uint32_t left = 0;

    // Takes a step, and returns false if none is left.
    [[nodiscard]] bool take() {
        if (left == 0) {
            return false;
        }
        --left;
        return true;
    }
};

} // namespace kernel
