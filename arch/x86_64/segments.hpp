// SPDX-License-Identifier: MIT
// Segments and interrupt stacks of the one processor. Long mode requires segments only for their selectors. The task
// state segment matters: it contains the stacks for NMI and the processor's exceptions, which do not depend on the
// state of the interrupted stack. Source: Intel SDM volume 3 sections 3.4.5, 6.14.5, 7.7.
#pragma once

#include <array>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint16_t kSelectorCode = 0x08;
inline constexpr std::uint16_t kSelectorData = 0x10;
inline constexpr std::uint16_t kSelectorTss = 0x18;

// Slots in the interrupt stack table, from 1; 0 means the interrupted stack.
enum class InterruptStack : std::uint8_t {
    none = 0,
    nmi = 1,
    double_fault = 2,
    machine_check = 3,
    page_fault = 4,
    debug = 5,     // a step of a task that has no stack left must not be the fault; no #DB comes inside of one
    exception = 6, // the others: the interrupted stack may be damaged, and a report needs space
};

inline constexpr std::size_t kInterruptStacks = 6;

// Loads our own GDT and TSS. irq-off, once per processor.
void load_segments();

// While an NMI is served, the next one starts this much lower on their common stack, so that it does not overwrite the
// data of the one before. A few of them fit. irq-off.
inline constexpr std::uint64_t kNmiStackBytes = 8192;
void enter_nmi();
void leave_nmi();

// None that is being served will be continued. irq-off, on another stack.
void abandon_nmis();

// The unmapped pages below the interrupt stacks, for paging.
[[nodiscard]] std::array<std::uint64_t, kInterruptStacks> interrupt_stack_guards();

} // namespace arch::x86_64
