// SPDX-License-Identifier: MIT
// Declares the frame that the entry stubs leave on the stack and the processor's own vectors, and derives from them
// where an exception occurred and on which stack a vector is served. There is no instruction and no table here. Source:
// Intel SDM volume 3 sections 6.3 to 6.5, 6.13, 6.14. Context: any.
#pragma once

#include "arch/x86_64/descriptors.hpp"

#include <cstddef>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint8_t kExceptions = 32;     // vectors below are the processor's own
inline constexpr std::uint64_t kTrapFlag = 1U << 8; // a bit of RFLAGS
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

[[nodiscard]] constexpr InterruptStack stack_of(std::size_t vector) {
    switch (vector) {
    case kVectorNmi:
        return InterruptStack::nmi;
    case kVectorDoubleFault:
        return InterruptStack::double_fault;
    case kVectorPageFault:
        return InterruptStack::page_fault;
    case kVectorMachineCheck:
        return InterruptStack::machine_check;
    case kVectorDebug:
        return InterruptStack::debug;
    default:
        return vector < kExceptions ? InterruptStack::exception : InterruptStack::none;
    }
}

struct ExceptionPlace {
    std::uint64_t error_code, rip, rflags, rsp;
};

// Returns the place of an exception. `int n` with the number of an exception that has an error code pushes none: the
// stub then takes each word for the one before it, and the frame's last word is beyond the stack. The code segment,
// which is always the same, reveals this.
[[nodiscard]] constexpr ExceptionPlace place_of(const InterruptFrame& frame) {
    if (frame.cs != kSelectorCode && frame.rip == kSelectorCode) {
        return {.error_code = 0, .rip = frame.error_code, .rflags = frame.cs, .rsp = frame.rflags};
    }
    return {.error_code = frame.error_code, .rip = frame.rip, .rflags = frame.rflags, .rsp = frame.rsp};
}

} // namespace arch::x86_64
