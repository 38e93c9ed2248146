// SPDX-License-Identifier: MIT
#include "arch/x86_64/power.hpp"

#include "arch/x86_64/port_io.hpp"

namespace arch::x86_64 {

namespace {

constexpr int kPowerOffPolls = 1'000'000;
constexpr std::uint16_t kPortReset = 0xCF9;
constexpr std::uint8_t kResetHard = 1U << 1;
constexpr std::uint8_t kResetNow = 1U << 2;
constexpr std::uint16_t kPortKeyboard = 0x64;
constexpr std::uint8_t kKeyboardReset = 0xFE;

void wait() {
    for (int i = 0; i < kPowerOffPolls; ++i) {
        PortIo::pause();
    }
}

} // namespace

void debug_exit(std::uint8_t value) {
    PortIo::out8(kDebugExitPort, value);
}

void acpi_power_off(std::uint16_t pm1a_control_port, std::uint8_t sleep_type) {
    PortIo::out16(pm1a_control_port, pm1_sleep(sleep_type));
    wait();
}

void reset() {
    PortIo::out8(kPortReset, kResetHard);
    PortIo::out8(kPortReset, kResetHard | kResetNow);
    wait();
    PortIo::out8(kPortKeyboard, kKeyboardReset);
    wait();
    constexpr std::uint64_t kNoTables = 0; // the interrupt table is not mapped any more either
    asm volatile("movq %0, %%cr3" : : "r"(kNoTables) : "memory");
    halt();
}

void halt() {
    for (;;) {
        asm volatile("cli; hlt" : : : "memory");
    }
}

} // namespace arch::x86_64
