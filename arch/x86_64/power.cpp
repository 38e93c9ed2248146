// SPDX-License-Identifier: MIT
#include "arch/x86_64/power.hpp"

#include "arch/x86_64/port_io.hpp"

namespace arch::x86_64 {

namespace {

constexpr std::uint16_t kSleepEnable = 1U << 13;
constexpr unsigned kSleepTypeShift = 10;
constexpr int kPowerOffPolls = 1'000'000;

} // namespace

void debug_exit(std::uint8_t value) {
    PortIo::out8(kDebugExitPort, value);
}

void acpi_power_off(std::uint16_t pm1a_control_port, std::uint8_t sleep_type) {
    PortIo::out16(pm1a_control_port, static_cast<std::uint16_t>((sleep_type << kSleepTypeShift) | kSleepEnable));
    for (int i = 0; i < kPowerOffPolls; ++i) {
        PortIo::pause();
    }
}

void halt() {
    for (;;) {
        asm volatile("cli; hlt" : : : "memory");
    }
}

} // namespace arch::x86_64
