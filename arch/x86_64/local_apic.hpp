// SPDX-License-Identifier: MIT
// The processor's own interrupt controller (xAPIC mode) and its timer, used one-shot and tickless.
// Source: Intel SDM volume 3 chapter 10 (sections 10.4, 10.5.4, 10.8.5, 10.9).
#pragma once

#include "lib/units.hpp"

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint64_t kLocalApicDefaultBase = 0xFEE0'0000;
inline constexpr std::uint8_t kVectorTimer = 0xF0;
inline constexpr std::uint8_t kVectorApicError = 0xFE;
inline constexpr std::uint8_t kVectorSpurious = 0xFF;

// Who serves the external lines. The 8259 pair reaches the processor through the local APIC's LINT0 pin ("virtual
// wire"), which must be closed otherwise.
enum class ExternalLines : std::uint8_t { io_apic, pic };

// Enables the controller with everything masked but, for the 8259 pair, LINT0. irq-off.
void local_apic_start(std::uint64_t base, ExternalLines lines);

void local_apic_end_of_interrupt();

// What local_apic_hold() found.
struct LocalApicHold {
    std::uint32_t lint1;
};

// Holds back every interrupt but the processor's own exceptions and NMIs sent by message; an NMI at the pin LINT1 is
// lost meanwhile, all else is kept. irq-off.
[[nodiscard]] LocalApicHold local_apic_hold();
void local_apic_resume(LocalApicHold hold);

// Measures the timer against timestamp(); the clock must be calibrated. Returns the rate in kHz.
std::uint32_t local_apic_calibrate(lib::TickRate clock);

// Fires once after so many clock ticks, rounded up to a timer tick; a span beyond the counter's 32 bits fires early,
// and the kernel arms again. irq-off.
void local_apic_timer_arm(lib::Ticks delta, lib::TickRate clock);

void local_apic_timer_disarm();

// Until it fires, in clock ticks, rounded down; 0: it has, or it is disarmed. irq-off.
[[nodiscard]] lib::Ticks local_apic_timer_left(lib::TickRate clock);

} // namespace arch::x86_64
