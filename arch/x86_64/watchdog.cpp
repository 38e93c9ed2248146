// SPDX-License-Identifier: MIT
#include "arch/x86_64/watchdog.hpp"

#include "arch/x86_64/hpet.hpp"
#include "arch/x86_64/hpet_words.hpp"
#include "arch/x86_64/local_apic.hpp"
#include "arch/x86_64/machine.hpp"
#include "arch/x86_64/segments.hpp"
#include "arch/x86_64/watchdog_clock.hpp"

namespace arch::x86_64 {

namespace {

struct TheMachine {
    [[nodiscard]] static std::uint64_t counter() { return hpet_counter(); }

    static void write(std::uint64_t address, std::uint64_t value) { mmio_write(address, value); }

    static void ping() { local_apic_interrupt_self(kVectorPing); }
};

constinit WatchdogClock<TheMachine> g_clock{};
constinit WatchdogLook g_look = nullptr; // null: there is no watchdog

struct Comparator {
    std::uint64_t address;
    std::uint32_t line;
};

// Chooses the last comparator with 64 bits and a line, because firmware uses the first ones.
lib::Result<Comparator> choose_timer(std::uint64_t base) {
    const auto timers = hpet_timers(mmio_read<std::uint64_t>(base + kHpetRegCapabilities));
    for (std::uint64_t n = timers; n-- > 0;) {
        const std::uint64_t address = base + kHpetRegTimers + n * kHpetTimerBytes;
        if (const auto line = hpet_timer_line(mmio_read<std::uint64_t>(address)); line.ok()) {
            return Comparator{address, line.value()};
        }
    }
    return lib::Error::not_found;
}

} // namespace

lib::Result<void> watchdog_start(std::uint64_t hpet_base, lib::Nanoseconds period, WatchdogLook look) {
    ASSERT(interrupts_disabled() && look != nullptr && g_look == nullptr);
    const auto khz = hpet_base != 0 ? hpet_start(hpet_base) : lib::Error::not_found;
    const auto timer = khz.ok() ? choose_timer(hpet_base) : khz.error();
    const auto routed = timer.ok() ? route_nmi(timer.value().line) : timer.error();
    if (!routed.ok()) {
        return routed;
    }
    g_look = look;
    g_clock.start(timer.value().address, hpet_timer_on(timer.value().line),
                  lib::multiply_divide(period.value, khz.value(), 1'000'000));
    return {};
}

void watchdog_hold() {
    if (g_look != nullptr) {
        g_clock.hold();
    }
}

void watchdog_resume() {
    if (g_look != nullptr) {
        g_clock.resume();
    }
}

Exception interrupted_by_nmi(const InterruptFrame& frame) {
    return {.vector = kVectorNmi,
            .error_code = 0,
            .instruction_address = frame.rip,
            .stack_address = frame.rsp,
            .frame_address = frame.rbp,
            .fault_address = 0,
            .interrupts_were_on = (frame.rflags & kInterruptFlag) != 0};
}

bool serve_look(const InterruptFrame& frame) {
    if (g_look == nullptr) {
        return false;
    }
    const WatchdogNmi nmi = g_clock.nmi();
    if (nmi == WatchdogNmi::look) {
        g_look(interrupted_by_nmi(frame), g_clock.ask());
    }
    return nmi != WatchdogNmi::other;
}

bool serve_ping(std::uint8_t vector) {
    if (vector != kVectorPing || !g_clock.take_ping()) {
        return false;
    }
    local_apic_end_of_interrupt();
    return true;
}

std::optional<Vector> vector_in_service() {
    return local_apic_in_service();
}

void allow_nmi() {
    abandon_nmis();
    asm volatile("movq %%rsp, %%rax\n"
                 "pushq %0\n"
                 "pushq %%rax\n"
                 "pushfq\n"
                 "pushq %1\n"
                 "leaq 1f(%%rip), %%rax\n"
                 "pushq %%rax\n"
                 "iretq\n"
                 "1:"
                 :
                 : "i"(kSelectorData), "i"(kSelectorCode)
                 : "rax", "memory");
}

} // namespace arch::x86_64
