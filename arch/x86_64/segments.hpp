// SPDX-License-Identifier: MIT
// Sets up the segments and interrupt stacks of the one processor. Long mode requires segments only for their selectors.
// The task state segment matters: it contains the stacks for NMI and the processor's exceptions, which do not depend on
// the state of the interrupted stack. Source: Intel SDM volume 3 sections 6.14.5, 7.7.
#pragma once

#include "arch/x86_64/descriptors.hpp"

#include <array>
#include <cstdint>

namespace arch::x86_64 {

// Loads our own GDT and TSS. Context: irq-off, once per processor.
void load_segments();

// While an NMI is served, the next one starts this much lower on their common stack, so that it does not overwrite the
// data of the one before. A few of them fit. Context: irq-off.
inline constexpr std::uint64_t kNmiStackBytes = 8192;
void enter_nmi();
void leave_nmi();

// States that no NMI in service will be continued. Context: irq-off, on another stack.
void abandon_nmis();

// Returns the unmapped pages below the interrupt stacks, for paging.
[[nodiscard]] std::array<std::uint64_t, kInterruptStacks> interrupt_stack_guards();

} // namespace arch::x86_64
