// SPDX-License-Identifier: MIT
// Put before every source that has switched mutants (tests/mutate/switched.py): the program contains all of them, and
// the environment variable MUTANT selects one when it starts (mutant schemata, Untch, Offutt, Harrold, ISSTA 1993).
#pragma once

#include <cstddef>

extern "C" {
extern unsigned mutant_chosen;          // 0: none
extern unsigned char* mutants_executed; // a byte for each: 1 if it was evaluated
}

namespace mutant {

inline constexpr std::size_t kMutantsMax = 65536; // of an area, mutant 0 is none
inline constexpr std::size_t kRowsMax = 4096;     // tests of a program

/// True if mutant `number` is the one selected. False for what the compiler calculates: it does not change.
constexpr bool on(unsigned number) {
    if (__builtin_is_constant_evaluated()) {
        return false;
    }
    mutants_executed[number] = 1;
    return number == mutant_chosen;
}

} // namespace mutant
