// SPDX-License-Identifier: MIT
// Defines the processor's part of arch/arch.hpp that must be inline: the switch of contexts.
#pragma once

#include "arch/stack_pointer.hpp"
#include "arch/x86_64/stack_switch.hpp"
#include "lib/assert.hpp"

#include <machine/cpu.hpp>

namespace arch {

[[gnu::always_inline]] inline void switch_context(StackPointer* save, StackPointer load) {
    ASSERT(!lib::kChecked || interrupts_disabled());
    x86_64::switch_stacks(&save->value, load.value);
}

} // namespace arch
