// SPDX-License-Identifier: MIT
// Does work whose result shows whether all of it was done, once and in order.
#pragma once

#include <cstdint>

namespace guest {

// Takes at least four instructions a round. Context: any.
inline std::uint64_t mixed(std::uint64_t rounds) {
    std::uint64_t state = 1;
    for (std::uint64_t i = 0; i < rounds; ++i) {
        asm volatile("" : "+r"(state)); // one round stays one round, whatever the optimiser knows
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        state ^= state >> 29;
    }
    return state;
}

} // namespace guest
