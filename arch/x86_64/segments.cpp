// SPDX-License-Identifier: MIT
#include "arch/x86_64/segments.hpp"

#include "arch/x86_64/guarded_stack.hpp"
#include "lib/assert.hpp"

extern "C" void arch_reload_segments();

namespace arch::x86_64 {

namespace {

constinit std::array<GuardedStack<32768>, kInterruptStacks> g_stacks{};
constinit TaskStateSegment g_tss{};
alignas(16) constinit std::array<std::uint64_t, 5> g_gdt = {0, kDescriptorCode, kDescriptorData, 0, 0};

} // namespace

void load_segments() {
    std::array<std::uint64_t, 7> stacks{};
    for (std::size_t i = 0; i < kInterruptStacks; ++i) {
        stacks[i] = g_stacks[i].top();
    }
    g_tss.interrupt_stacks = stacks;
    g_tss.io_map_offset = sizeof(TaskStateSegment);
    const WideDescriptor tss = tss_descriptor(reinterpret_cast<std::uint64_t>(&g_tss));
    g_gdt[kSelectorTss / sizeof(std::uint64_t)] = tss.low;
    g_gdt[kSelectorTss / sizeof(std::uint64_t) + 1] = tss.high;
    const TablePointer pointer{sizeof(g_gdt) - 1, reinterpret_cast<std::uint64_t>(g_gdt.data())};
    asm volatile("lgdt %0" : : "m"(pointer));
    arch_reload_segments();
    asm volatile("ltr %w0" : : "r"(kSelectorTss));
}

// The processor reads the pointer when an NMI arrives. None can arrive between entry and enter_nmi(), because NMIs are
// blocked until an IRET.
void enter_nmi() {
    constexpr auto kNmi = static_cast<std::size_t>(InterruptStack::nmi);
    std::array<std::uint64_t, 7> stacks = g_tss.interrupt_stacks;
    ASSERT(stacks[kNmi - 1] - kNmiStackBytes > g_stacks[kNmi - 1].guard_address() + kPageBytes);
    stacks[kNmi - 1] -= kNmiStackBytes;
    g_tss.interrupt_stacks = stacks;
}

void leave_nmi() {
    constexpr auto kNmi = static_cast<std::size_t>(InterruptStack::nmi);
    std::array<std::uint64_t, 7> stacks = g_tss.interrupt_stacks;
    stacks[kNmi - 1] += kNmiStackBytes;
    g_tss.interrupt_stacks = stacks;
}

void abandon_nmis() {
    constexpr auto kNmi = static_cast<std::size_t>(InterruptStack::nmi);
    std::array<std::uint64_t, 7> stacks = g_tss.interrupt_stacks;
    stacks[kNmi - 1] = g_stacks[kNmi - 1].top();
    g_tss.interrupt_stacks = stacks;
}

std::array<std::uint64_t, kInterruptStacks> interrupt_stack_guards() {
    std::array<std::uint64_t, kInterruptStacks> guards{};
    for (std::size_t i = 0; i < kInterruptStacks; ++i) {
        guards[i] = g_stacks[i].guard_address();
    }
    return guards;
}

} // namespace arch::x86_64
