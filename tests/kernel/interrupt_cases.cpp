// SPDX-License-Identifier: MIT
// Tests external lines, unassigned and spurious vectors, and NMI: every way into the interrupt funnel but the timer's.
// The line cases hold whichever controller serves the lines; the runner boots them with irq=apic and irq=pic.
#include "arch/arch.hpp"
#include "arch/x86_64/interrupts.hpp"
#include "arch/x86_64/local_apic.hpp"
#include "arch/x86_64/mmio.hpp"
#include "arch/x86_64/port_io.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "tests/kernel/case.hpp"

namespace {

namespace interrupt_cases {

using arch::x86_64::PortIo;
using guest::check;

constexpr std::uint8_t kPitLine = 0;
constexpr std::uint64_t kSpinsMax = 100'000'000;

// Starts channel 0 as a square wave with this period in PIT ticks (1.193182 MHz).
void start_pit(std::uint16_t period) {
    PortIo::out8(0x43, 0x36);
    PortIo::out8(0x40, static_cast<std::uint8_t>(period));
    PortIo::out8(0x40, static_cast<std::uint8_t>(period >> 8));
}

constinit volatile int g_hits = 0;

void count_hit(void* argument) {
    check(argument == &g_hits, "the handler gets its argument");
    check(arch::interrupts_disabled(), "handlers run with interrupts off");
    g_hits = g_hits + 1;
}

int external_line(const kernel::AppArguments&) {
    const auto vector = arch::line_vector(kPitLine);
    check(vector.ok(), "line 0 has a vector");
    check(kernel::interrupt_attach(vector.value(), "pit", &count_hit, const_cast<int*>(&g_hits)).ok(), "attach");
    check(kernel::interrupt_attach(vector.value(), "pit", &count_hit, nullptr).error() == lib::Error::exists,
          "one handler a vector");
    start_pit(1'193);
    arch::line_enable(kPitLine, true);
    for (std::uint64_t spins = 0; g_hits < 5 && spins < kSpinsMax; ++spins) {
        PortIo::pause();
    }
    arch::line_enable(kPitLine, false);
    check(g_hits >= 5, "the line interrupts again and again: each was acknowledged");
    const int masked = g_hits;
    kernel::task_delay(lib::milliseconds(10));
    check(g_hits <= masked + 1, "a masked line is silent"); // one may have been on its way
    check(kernel::interrupt_detach(vector.value()).ok(), "detach");
    check(kernel::interrupt_detach(vector.value()).error() == lib::Error::not_found, "detach twice");
    return guest::failures;
}

int unassigned_vector(const kernel::AppArguments&) {
    const kernel::InterruptCounters before = kernel::interrupt_counters();
    asm volatile("int $0x81" : : : "memory");
    asm volatile("int $0xFF" : : : "memory");
    check(kernel::interrupt_counters().unassigned == before.unassigned + 1, "a vector without handler is counted");
    check(kernel::interrupt_counters().spurious == before.spurious + 1, "the spurious vector is counted apart");
    return guest::failures;
}

// This processor sends an NMI to itself; it must be served even with interrupts off, and traced like the others.
int non_maskable(const kernel::AppArguments&) {
    constexpr std::uint64_t kRegCommandLow = 0x300;
    constexpr std::uint64_t kRegCommandHigh = 0x310;
    constexpr std::uint32_t kDeliverNmi = 0x4400; // NMI, assert, physical destination
    const std::uint64_t base = arch::x86_64::kLocalApicDefaultBase;
    const std::uint64_t before = kernel::interrupt_counters().nmi;
    guest::count_nmis();
    {
        const arch::IrqGuard guard;
        arch::x86_64::mmio_write<std::uint32_t>(base + kRegCommandHigh, 0);
        arch::x86_64::mmio_write<std::uint32_t>(base + kRegCommandLow, kDeliverNmi);
        for (std::uint64_t spins = 0; kernel::interrupt_counters().nmi == before && spins < kSpinsMax; ++spins) {
            PortIo::pause();
        }
        check(kernel::interrupt_counters().nmi == before + 1, "the NMI was served after cli");
    }
    kernel::task_delay(lib::milliseconds(1));
    check(kernel::interrupt_counters().nmi == before + 1, "once");
    return guest::failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kInterruptCases[] = {
    {"t_irq_line", "an external line through the interrupt controller", &guest::checked<&external_line>, false},
    {"t_irq_unassigned", "vectors without a handler", &guest::checked<&unassigned_vector>, false},
    {"t_irq_nmi", "an NMI after cli", &guest::checked<&non_maskable>, false},
};

} // namespace interrupt_cases

} // namespace
