// SPDX-License-Identifier: MIT
#include "arch/x86_64/interrupts.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/segments.hpp"
#include "arch/x86_64/single_step.hpp"
#include "arch/x86_64/watchdog.hpp"

#include <array>

extern "C" {
extern const std::uint64_t arch_stub_table[256];
void arch_interrupt_dispatch(arch::x86_64::InterruptFrame* frame);
}

namespace arch {

namespace {

constinit Upcalls g_upcalls{};

} // namespace

void set_upcalls(const Upcalls& upcalls) {
    g_upcalls = upcalls;
}

namespace x86_64 {

namespace {

struct [[gnu::packed]] TablePointer {
    std::uint16_t limit;
    std::uint64_t base;
};

// A gate is two words; an interrupt gate clears the interrupt flag on entry.
struct Gate {
    std::uint64_t low;
    std::uint64_t high;
};

constexpr std::uint64_t kPresentInterruptGate = 0x8E;

alignas(16) constinit std::array<Gate, 256> g_table{};
constinit DebugHook g_debug_hook = nullptr;

constexpr InterruptStack stack_of(std::size_t vector) {
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

constexpr Gate make_gate(std::uint64_t target, InterruptStack stack) {
    return {(target & 0xFFFF) | (std::uint64_t{kSelectorCode} << 16) | (static_cast<std::uint64_t>(stack) << 32) |
                (kPresentInterruptGate << 40) | (((target >> 16) & 0xFFFF) << 48),
            target >> 32};
}

[[nodiscard]] std::uint64_t fault_address() {
    std::uint64_t address = 0;
    asm volatile("movq %%cr2, %0" : "=r"(address));
    return address;
}

struct Place {
    std::uint64_t error_code, rip, rflags, rsp;
};

// `int n` with the number of an exception that has an error code pushes none: the stub then took the following words
// for one more than there are, and the last word of the frame is beyond the stack. This is detected by the code
// segment, which is always the same.
Place place_of(const InterruptFrame& frame) {
    if (frame.cs != kSelectorCode && frame.rip == kSelectorCode) {
        return {.error_code = 0, .rip = frame.error_code, .rflags = frame.cs, .rsp = frame.rflags};
    }
    return {.error_code = frame.error_code, .rip = frame.rip, .rflags = frame.rflags, .rsp = frame.rsp};
}

} // namespace

void set_debug_hook(DebugHook hook) {
    g_debug_hook = hook;
}

bool serve_debug(InterruptFrame& frame) {
    if (frame.vector != kVectorDebug || g_debug_hook == nullptr) {
        return false;
    }
    g_debug_hook(frame);
    return true;
}

void copy_gate(std::uint8_t vector, std::byte* target) {
    TablePointer pointer{};
    asm volatile("sidt %0" : "=m"(pointer)); // the table that is loaded, not the expected one
    ASSERT(pointer.limit >= sizeof(Gate) * vector + sizeof(Gate) - 1);
    __builtin_memcpy(target, reinterpret_cast<const Gate*>(pointer.base) + vector, sizeof(Gate));
}

void load_interrupt_table() {
    for (std::size_t vector = 0; vector < g_table.size(); ++vector) {
        g_table[vector] = make_gate(arch_stub_table[vector], stack_of(vector));
    }
    const TablePointer pointer{sizeof(g_table) - 1, reinterpret_cast<std::uint64_t>(g_table.data())};
    asm volatile("lidt %0" : : "m"(pointer));
}

} // namespace x86_64

} // namespace arch

void arch_interrupt_dispatch(arch::x86_64::InterruptFrame* frame) {
    using namespace arch::x86_64;
    const auto vector = static_cast<arch::Vector>(frame->vector);
    if (vector >= kExceptions) {
        arch::g_upcalls.interrupt(vector);
        leave_in_steps(*frame);
        return;
    }
    if (vector == kVectorNmi) {
        enter_nmi();
        if (!serve_look(*frame)) {
            arch::g_upcalls.nmi(interrupted_by_nmi(*frame));
        }
        leave_nmi();
        return;
    }
    if (serve_debug(*frame) || serve_step(*frame) || serve_ping(vector)) {
        return;
    }
    const Place place = place_of(*frame);
    arch::g_upcalls.exception({.vector = vector,
                               .error_code = place.error_code,
                               .instruction_address = place.rip,
                               .stack_address = place.rsp,
                               .frame_address = frame->rbp,
                               .fault_address = vector == kVectorPageFault ? fault_address() : 0,
                               .interrupts_were_on = (place.rflags & arch::kInterruptFlag) != 0});
}
