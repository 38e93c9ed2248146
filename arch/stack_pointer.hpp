// SPDX-License-Identifier: MIT
// Declares a suspended context for arch.hpp and the machine's <machine/context.hpp>.
#pragma once

#include <cstdint>

namespace arch {

// Holds the stack pointer of a suspended context; everything else that the context needs is on that stack.
struct StackPointer {
    std::uint64_t value = 0;
};

} // namespace arch
