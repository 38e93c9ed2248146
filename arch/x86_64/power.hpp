// SPDX-License-Identifier: MIT
// Ends the machine by QEMU's debug-exit port with a code or by the ACPI power-off of a real machine, and resets it.
// Sources: QEMU hw/misc/debugexit (exit code = value * 2 + 1); ACPI 6.4 section 4.8.3.2 (PM1 control); Intel ICH9 data
// sheet section 13.7.5 (reset control register); IBM PC/AT technical reference (8042 output port, bit 0).
#pragma once

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint16_t kDebugExitPort = 0xF4;

// QEMU exits with code value * 2 + 1, if it was started with isa-debug-exit at this port; otherwise nothing happens and
// the call returns.
void debug_exit(std::uint8_t value);

// Returns the bits of SLP_TYP, which has three bits, and SLP_EN.
[[nodiscard]] constexpr std::uint16_t pm1_sleep(std::uint8_t sleep_type) {
    return static_cast<std::uint16_t>(((sleep_type & 7U) << 10) | (1U << 13));
}

// Writes SLP_TYP and SLP_EN; returns if the machine does not power off within a bounded time.
void acpi_power_off(std::uint16_t pm1a_control_port, std::uint8_t sleep_type);

// Resets the machine: by the chip set, else by the keyboard controller, else by a fault that cannot be served.
[[noreturn]] void reset();

[[noreturn]] void halt();

} // namespace arch::x86_64
