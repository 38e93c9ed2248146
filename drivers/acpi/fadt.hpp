// SPDX-License-Identifier: MIT
// The Fixed ACPI Description Table: the ports of power control and of the power management timer, the reset register,
// the address of the DSDT. Only fields that the kernel uses. Source: ACPI Specification 6.5, section 5.2.9; the
// 116-byte table of ACPI 1.0 is accepted.
#pragma once

#include "drivers/acpi/generic_address.hpp"
#include "drivers/acpi/table.hpp"

#include <optional>

namespace drivers::acpi {

enum class TimerWidth : std::uint8_t {
    bits_24 = 24,
    bits_32 = 32,
};

struct PmTimer { // counts at 3.579545 MHz
    std::uint16_t port = 0;
    TimerWidth width = TimerWidth::bits_24;
};

struct ResetRegister {
    GenericAddress where;   // io or memory, 8 bits wide
    std::uint8_t value = 0; // write this to reset the machine
};

// Switches the machine from legacy to ACPI mode if SCI_EN is 0: write `value` to `port`.
struct AcpiEnable {
    std::uint16_t port = 0;
    std::uint8_t value = 0;
};

struct Fadt {
    std::uint64_t dsdt_address = 0;
    std::uint16_t sci_interrupt = 0;
    std::optional<std::uint16_t> pm1a_control_port; // 16-bit port; SLP_TYP in bits 12..10, SLP_EN bit 13, SCI_EN bit 0
    std::optional<std::uint16_t> pm1b_control_port; // most machines have none
    std::optional<PmTimer> pm_timer;
    std::optional<ResetRegister> reset;
    std::optional<AcpiEnable> acpi_enable;
};

inline constexpr Signature kFadtSignature = "FACP";

// Reads the table. corrupt: it is shorter than that of ACPI 1.0, or it has no DSDT.
[[nodiscard]] lib::Result<Fadt> parse_fadt(const Table& table);

} // namespace drivers::acpi
