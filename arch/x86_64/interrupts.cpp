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

alignas(16) constinit std::array<WideDescriptor, 256> g_table{};
constinit DebugHook g_debug_hook = nullptr;

[[nodiscard]] std::uint64_t fault_address() {
    std::uint64_t address = 0;
    asm volatile("movq %%cr2, %0" : "=r"(address));
    return address;
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
    ASSERT(pointer.limit >= sizeof(WideDescriptor) * vector + sizeof(WideDescriptor) - 1);
    __builtin_memcpy(target, reinterpret_cast<const WideDescriptor*>(pointer.base) + vector, sizeof(WideDescriptor));
}

void load_interrupt_table() {
    for (std::size_t vector = 0; vector < g_table.size(); ++vector) {
        g_table[vector] = interrupt_gate(arch_stub_table[vector], stack_of(vector));
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
    const ExceptionPlace place = place_of(*frame);
    arch::g_upcalls.exception({.vector = vector,
                               .error_code = place.error_code,
                               .instruction_address = place.rip,
                               .stack_address = place.rsp,
                               .frame_address = frame->rbp,
                               .fault_address = vector == kVectorPageFault ? fault_address() : 0,
                               .interrupts_were_on = (place.rflags & arch::kInterruptFlag) != 0});
}
