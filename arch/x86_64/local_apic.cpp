// SPDX-License-Identifier: MIT
// Has the local APIC of the boot processor.
#include "arch/x86_64/local_apic.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/local_apic_device.hpp"
#include "arch/x86_64/mmio.hpp"
#include "arch/x86_64/msr.hpp"
#include "arch/x86_64/spin.hpp"

namespace arch::x86_64 {

namespace {

struct TheMachine : MmioWords {
    static void enable() {
        constexpr std::uint64_t kApicBaseEnable = 1U << 11;
        write_msr(kMsrApicBase, read_msr(kMsrApicBase) | kApicBaseEnable);
    }

    [[nodiscard]] static lib::Ticks now() { return timestamp(); }

    static void spin() { spin_briefly(); }
};

constinit LocalApic<TheMachine> g_local_apic{};

} // namespace

void local_apic_start(std::uint64_t base, ExternalLines lines) {
    g_local_apic.start(base, lines);
}

void local_apic_end_of_interrupt() {
    g_local_apic.end_of_interrupt();
}

void local_apic_interrupt_self(std::uint8_t vector) {
    g_local_apic.interrupt_self(vector);
}

std::optional<std::uint8_t> local_apic_in_service() {
    return g_local_apic.in_service();
}

LocalApicHold local_apic_hold() {
    return g_local_apic.hold();
}

void local_apic_resume(LocalApicHold hold) {
    g_local_apic.resume(hold);
}

std::uint32_t local_apic_calibrate(lib::TickRate clock) {
    return g_local_apic.calibrate(clock);
}

void local_apic_timer_arm(lib::Ticks at) {
    g_local_apic.arm(at);
}

lib::Ticks local_apic_timer_left(lib::TickRate clock) {
    return g_local_apic.left(clock);
}

void local_apic_timer_disarm() {
    g_local_apic.disarm();
}

} // namespace arch::x86_64
