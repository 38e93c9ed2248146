// SPDX-License-Identifier: MIT
#include "arch/x86_64/watchdog.hpp"

#include "arch/x86_64/hpet.hpp"
#include "arch/x86_64/hpet_words.hpp"
#include "arch/x86_64/local_apic.hpp"
#include "arch/x86_64/machine.hpp"
#include "arch/x86_64/segments.hpp"

#include <utility>

namespace arch::x86_64 {

namespace {

constexpr int kArmTriesMax = 16; // each doubles the distance

struct Clock {
    WatchdogLook look = nullptr; // null: there is no watchdog
    std::uint64_t timer = 0;     // address of its registers
    std::uint64_t configuration = 0;
    std::uint64_t period = 0; // in ticks of the HPET
    std::uint64_t due = 0;    // the counter's value at the next look
    bool passed = false;      // arming for `due` took several tries: an NMI of an earlier one may still come
    bool pinged = false;
    bool answered = false;
};

constinit Clock g_clock{};

// The comparator is compared for equality, so a value that has passed meanwhile would never come.
void arm(std::uint64_t distance) {
    for (int i = 0; i < kArmTriesMax; ++i, distance *= 2) {
        g_clock.passed = i != 0;
        g_clock.due = hpet_counter() + distance;
        mmio_write(g_clock.timer + kHpetRegComparator, g_clock.due);
        if (hpet_counter() < g_clock.due) {
            return;
        }
    }
}

void ping() {
    g_clock.answered = false;
    g_clock.pinged = true;
    local_apic_interrupt_self(kVectorPing);
}

// Chooses the last comparator with 64 bits and a line, because firmware uses the first ones.
lib::Result<std::uint32_t> choose_timer(std::uint64_t base) {
    const auto timers = hpet_timers(mmio_read<std::uint64_t>(base + kHpetRegCapabilities));
    for (std::uint64_t n = timers; n-- > 0;) {
        g_clock.timer = base + kHpetRegTimers + n * kHpetTimerBytes;
        if (const auto line = hpet_timer_line(mmio_read<std::uint64_t>(g_clock.timer)); line.ok()) {
            return line;
        }
    }
    return lib::Error::not_found;
}

} // namespace

lib::Result<void> watchdog_start(std::uint64_t hpet_base, lib::Nanoseconds period, WatchdogLook look) {
    ASSERT(interrupts_disabled() && look != nullptr && g_clock.look == nullptr);
    const auto khz = hpet_base != 0 ? hpet_start(hpet_base) : lib::Error::not_found;
    const auto line = khz.ok() ? choose_timer(hpet_base) : khz.error();
    const auto routed = line.ok() ? route_nmi(line.value()) : line.error();
    if (!routed.ok()) {
        return routed;
    }
    g_clock.configuration = hpet_timer_on(line.value());
    g_clock.period = lib::multiply_divide(period.value, khz.value(), 1'000'000);
    g_clock.answered = true;
    mmio_write(g_clock.timer, g_clock.configuration & ~kHpetInterruptOn);
    arm(g_clock.period);
    g_clock.look = look;
    mmio_write(g_clock.timer, g_clock.configuration);
    return {};
}

void watchdog_hold() {
    if (g_clock.look != nullptr) {
        mmio_write(g_clock.timer, g_clock.configuration & ~kHpetInterruptOn);
    }
}

void watchdog_resume() {
    if (g_clock.look != nullptr) {
        const std::uint64_t now = hpet_counter();
        arm(g_clock.due > now ? g_clock.due - now : 1);
        mmio_write(g_clock.timer, g_clock.configuration);
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
    if (g_clock.look == nullptr) {
        return false;
    }
    if (hpet_counter() < g_clock.due) {
        return std::exchange(g_clock.passed, false);
    }
    arm(g_clock.period);
    const bool answered = g_clock.answered;
    if (answered) {
        ping(); // otherwise the previous ping still waits
    }
    g_clock.look(interrupted_by_nmi(frame), answered);
    return true;
}

bool serve_ping(std::uint8_t vector) {
    if (vector != kVectorPing || !g_clock.pinged) {
        return false;
    }
    g_clock.pinged = false;
    g_clock.answered = true;
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
