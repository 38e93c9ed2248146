// SPDX-License-Identifier: MIT
// Drives the processor's own interrupt controller (xAPIC mode) and its timer, which runs one-shot.
// Source: Intel SDM volume 3 chapter 10 (sections 10.4, 10.5.4, 10.8.5, 10.9).
#pragma once

#include "lib/units.hpp"

#include <cstdint>
#include <optional>

namespace arch::x86_64 {

inline constexpr std::uint64_t kLocalApicDefaultBase = 0xFEE0'0000;
inline constexpr std::uint8_t kVectorTimer = 0xF0;
inline constexpr std::uint8_t kVectorApicError = 0xFE;
inline constexpr std::uint8_t kVectorSpurious = 0xFF;

// States which controller serves the external lines. The 8259 pair reaches the processor through the local APIC's LINT0
// pin ("virtual wire"), which must be masked otherwise.
enum class ExternalLines : std::uint8_t { io_apic, pic };

// Enables the controller with everything masked, except LINT0 for the 8259 pair. Context: irq-off.
void local_apic_start(std::uint64_t base, ExternalLines lines);

void local_apic_end_of_interrupt();

// Requests this vector of the processor itself. Context: any.
void local_apic_interrupt_self(std::uint8_t vector);

// Returns the vector of highest priority that is being served and not acknowledged yet. Context: any.
[[nodiscard]] std::optional<std::uint8_t> local_apic_in_service();

// Holds the state that local_apic_hold() replaced.
struct LocalApicHold {
    std::uint32_t lint1;
};

// Blocks every interrupt except the processor's own exceptions and NMIs sent by message. An NMI at the pin LINT1 is
// lost meanwhile, all other requests are kept. Context: irq-off.
[[nodiscard]] LocalApicHold local_apic_hold();
void local_apic_resume(LocalApicHold hold);

// Measures the timer against timestamp() and returns its rate in kHz. The clock must be calibrated. The timer cannot be
// armed before.
std::uint32_t local_apic_calibrate(lib::TickRate clock);

// Arms the timer, which fires once at this time of the clock, rounded up to a timer tick, and at once if it has passed.
// A span beyond the counter's 32 bits fires early, and the kernel arms the timer again. Context: irq-off.
void local_apic_timer_arm(lib::Ticks at);

void local_apic_timer_disarm();

// Returns the clock ticks until the timer fires, rounded down, or 0 if it has fired or is disarmed. Context: irq-off.
[[nodiscard]] lib::Ticks local_apic_timer_left(lib::TickRate clock);

} // namespace arch::x86_64
