// SPDX-License-Identifier: MIT
// Station 5 shows time, signals and interrupts. The detail of an interrupt in the trace is chosen for each vector: span
// (start and end), hit (one record), count (one record for many). The program itself causes the storm: it executes the
// interrupts of a line to which no device is attached.
#include "apps/tour.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/interrupt/storm.hpp"
#include "kernel/run/real_mode.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"

#include <array>

namespace apps::tour {

namespace {

constexpr std::uint8_t kFreeLine = 5;
constexpr arch::Vector kFreeVector = 0x35; // the vector of that line, with the I/O APIC

constinit kernel::Pid s_main;

void ring() {
    verdict.expect(kernel::signal_handler_set(
                       5, [](std::uint8_t, void*) { compute(microseconds(50)); }, nullptr),
                   "signal_handler_set");
    verdict.expect(kernel::signal_raise(s_main, 5), "signal_raise"); // its handler runs before this returns
    verdict.expect(kernel::kern_event_post(
                       kernel::after(microseconds(500)),
                       [](void*) { verdict.expect(kernel::signal_raise(s_main, 6), "signal_raise"); }, nullptr),
                   "kern_event_post");
    const auto deleted = kernel::kern_event_post(
        kernel::after(milliseconds(1'000)), [](void*) {}, nullptr);
    verdict.expect(kernel::signal_wait(kernel::signal_bit(6)), "signal_wait");
    verdict.expect(deleted.ok() ? kernel::kern_event_delete(deleted.value()) : deleted.error(), "kern_event_delete");
}

// Shows the timer's interrupts of one millisecond, in one detail.
void show_timer(kernel::InterruptDetail detail) {
    kernel::record_interrupt(arch::timer_vector(), detail, 2);
    for (int i = 0; i < 5; ++i) {
        kernel::task_delay(microseconds(200));
    }
}

// Raises one interrupt more than a line may raise in a window.
void storm() {
    const auto vector = arch::line_vector(kFreeLine);
    if (!vector.ok() || vector.value() != kFreeVector) {
        return; // the 8259 pair serves the lines
    }
    kernel::record_interrupt(kFreeVector, kernel::InterruptDetail::count, 100);
    for (std::uint32_t i = 0; i <= kernel::kStormLimit; ++i) {
        asm volatile("int %0" : : "i"(kFreeVector) : "memory");
    }
    kernel::task_delay(kernel::kBackoffMin + milliseconds(1)); // until it is tried again
    kernel::flush_interrupt_counts();
}

void show_sections() {
    kernel::record_interrupt_sections(true);
    kernel::task_delay(microseconds(200));
    kernel::record_interrupt_sections(false);
}

// Only a machine that a BIOS has started can be asked; others refuse (docs/apps/tour.md).
void ask_the_bios() {
    static constinit std::array<arch::MemoryRange, 64> ranges{};
    const auto count = kernel::bios_memory_map(ranges);
    if (!count.ok() && count.error() != lib::Error::unsupported) {
        verdict.expect(count, "bios_memory_map");
    }
}

} // namespace

void visit_machine() {
    s_main = kernel::task_self();
    ring();
    show_timer(kernel::InterruptDetail::hit);
    show_timer(kernel::InterruptDetail::count);
    kernel::record_interrupt(arch::timer_vector(), kernel::InterruptDetail::span);
    storm();
    show_sections();
    ask_the_bios();
}

} // namespace apps::tour
