// SPDX-License-Identifier: MIT
// Interrupts are requested while they are off for a known number of instructions. What an observer outside of the
// machine reports of them, and the trace, are compared in tests/integration/latency.py.
#include "arch/arch.hpp"
#include "arch/x86_64/local_apic.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"
#include "tracer/ftrace.hpp"

#include <array>

namespace {

namespace latency_cases {

using namespace guest;

constexpr arch::Vector kVector = 0x91;
constexpr std::array<std::uint32_t, 3> kInstructions = {10, 1'000, 100'000}; // meanwhile, at least
constexpr lib::Nanoseconds kTimerDelay = lib::microseconds(20);

// par1 of an ipoint; par2 is the number of instructions.
constexpr std::uint16_t kBegin = 1;     // interrupts are off
constexpr std::uint16_t kRequested = 2; // the processor has requested an interrupt of itself
constexpr std::uint16_t kEnd = 3;       // interrupts are on at once

constinit kernel::Pid g_woken{};

// Each round is two instructions.
void execute(std::uint32_t instructions) {
    std::uint32_t rounds = instructions / 2;
    asm volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

// The task runs as soon as it is activated, and for the rest of the case the main task waits.
void create_woken() {
    g_woken = create("woken",
                     kernel::HardModel{lib::microseconds(100),
                                       lib::milliseconds(1),
                                       {},
                                       {},
                                       kernel::HardPriority::dynamic,
                                       kernel::Arrival::sporadic},
                     [](void*) {
                         for (;;) {
                             kernel::task_endcycle();
                         }
                     });
}

int masked(const kernel::AppArguments&) {
    create_woken();
    must(kernel::interrupt_attach_driver(
        kVector, "self", [](void*) { return kernel::DriverWork::activate; }, nullptr, g_woken));
    for (const std::uint32_t instructions : kInstructions) {
        {
            const arch::IrqGuard guard;
            TRACER_LOGEVENT(FTrace_EVT_ipoint, kBegin, instructions);
            arch::x86_64::local_apic_interrupt_self(kVector);
            TRACER_LOGEVENT(FTrace_EVT_ipoint, kRequested, instructions);
            execute(instructions);
            TRACER_LOGEVENT(FTrace_EVT_ipoint, kEnd, instructions);
        }
        kernel::task_delay(lib::milliseconds(2));
    }
    must(kernel::interrupt_detach(kVector));
    check(kernel::interrupt_counters(kVector).taken == kInstructions.size(), "each request was served once");
    return failures;
}

// The timer expires kTimerDelay after the first record, and is served after the last one.
int masked_timer(const kernel::AppArguments&) {
    create_woken();
    {
        const arch::IrqGuard guard;
        must(kernel::kern_event_post(
            kernel::after(kTimerDelay), [](void*) { must(kernel::task_activate(g_woken)); }, nullptr));
        TRACER_LOGEVENT(FTrace_EVT_ipoint, kBegin, kInstructions.back());
        execute(kInstructions.back());
        TRACER_LOGEVENT(FTrace_EVT_ipoint, kEnd, kInstructions.back());
    }
    kernel::task_delay(lib::milliseconds(2));
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kLatencyCases[] = {
    {"s_latency_masked", "interrupts are off when the processor requests one of itself", &checked<&masked>, false},
    {"s_latency_timer", "interrupts are off when the timer expires", &checked<&masked_timer>, false},
};

} // namespace latency_cases

} // namespace
