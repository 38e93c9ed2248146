// SPDX-License-Identifier: MIT
// A suspended context, as arch.hpp and the machine's <machine/context.hpp> see it.
#pragma once

#include <cstdint>

namespace arch {

// The stack pointer of a suspended context; everything else that it needs is on that stack.
struct StackPointer {
    std::uint64_t value = 0;
};

} // namespace arch
