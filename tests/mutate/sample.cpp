// SPDX-License-Identifier: MIT
// Every kind of mutant, for the test of the operators (tests/structure/mutations.py): sample.txt lists what may be made
// of each line.
#include "lib/assert.hpp"

#include <cstdint>

namespace mutate {

struct Ticks {
    std::uint32_t value;

    friend bool operator<(Ticks a, Ticks b) { return a.value < b.value; }
};

std::uint32_t distance(std::uint32_t from, std::uint32_t to) {
    ASSERT(from <= to);
    return to - from;
}

bool is_early(Ticks now, Ticks due) {
    static_assert(sizeof(Ticks) == 4);
    return now < due;
}

std::uint32_t sum_until(const std::uint32_t* values, std::uint32_t count, bool stops) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (values[i] == 0 && stops) {
            break;
        }
        sum += values[i];
    }
    if (sum > 1000 || count == 2) {
        sum = distance(count, sum);
    }
    if constexpr (sizeof(sum) > 4) {
        return sum;
    }
    switch (count) {
    case 1:
        sum <<= 2;
        break;
    default:
        break;
    }
    return sum == 7 ? sum : sum * 3;
}

} // namespace mutate
