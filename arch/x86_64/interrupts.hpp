// SPDX-License-Identifier: MIT
// The interrupt descriptor table, and the frame that the entry stubs leave on the stack.
// Source: Intel SDM volume 3 sections 6.10 to 6.14.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint8_t kExceptions = 32;     // vectors below are the processor's own
inline constexpr std::uint64_t kTrapFlag = 1U << 8; // of RFLAGS
inline constexpr std::uint8_t kVectorDebug = 1;
inline constexpr std::uint8_t kVectorNmi = 2;
inline constexpr std::uint8_t kVectorDoubleFault = 8;
inline constexpr std::uint8_t kVectorPageFault = 14;
inline constexpr std::uint8_t kVectorMachineCheck = 18;

struct InterruptFrame {
    std::uint64_t r15, r14, r13, r12, r11, r10, r9, r8;
    std::uint64_t rbp, rdi, rsi, rdx, rcx, rbx, rax;
    std::uint64_t vector;
    std::uint64_t error_code;
    std::uint64_t rip, cs, rflags, rsp, ss;
};

static_assert(offsetof(InterruptFrame, vector) == 120 && offsetof(InterruptFrame, rip) == 136); // as in entry.S

// Called for debug exceptions, irq-off, instead of the kernel's panic; it may change the frame. Null: panic.
using DebugHook = void (*)(InterruptFrame& frame);
void set_debug_hook(DebugHook hook);

// Returns false if this is not a debug exception, or no hook is set. irq-off.
bool serve_debug(InterruptFrame& frame);

// Copies the 16 bytes of a gate to a table that temporarily replaces ours. Precondition: the table is loaded.
void copy_gate(std::uint8_t vector, std::byte* target);

// Fills the table with the 256 stubs and loads it. irq-off.
void load_interrupt_table();

} // namespace arch::x86_64
