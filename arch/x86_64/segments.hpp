// SPDX-License-Identifier: MIT
// Segments and interrupt stacks of the one processor. Long mode needs segments only for the selectors' sake; the task
// state segment matters, because it names the stacks on which NMI and the processor's exceptions run whatever
// the interrupted stack looks like. Source: Intel SDM volume 3 sections 3.4.5, 6.14.5, 7.7.
#pragma once

#include <array>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint16_t kSelectorCode = 0x08;
inline constexpr std::uint16_t kSelectorData = 0x10;
inline constexpr std::uint16_t kSelectorTss = 0x18;

// Slots in the interrupt stack table, from 1; 0 means "stay on the interrupted stack".
enum class InterruptStack : std::uint8_t {
    none = 0,
    nmi = 1,
    double_fault = 2,
    machine_check = 3,
    page_fault = 4,
    exception = 5, // the others: the stack may be what is wrong, and a report needs room
};

inline constexpr std::size_t kInterruptStacks = 5;

// Loads our own GDT and TSS. irq-off, once per processor.
void load_segments();

// While an NMI is served, the next one starts so much further down on their common stack, and leaves alone what the one
// before has there. A handful of them fit. irq-off.
inline constexpr std::uint64_t kNmiStackBytes = 8192;
void enter_nmi();
void leave_nmi();

// The unmapped pages below the interrupt stacks, for paging.
[[nodiscard]] std::array<std::uint64_t, kInterruptStacks> interrupt_stack_guards();

} // namespace arch::x86_64
