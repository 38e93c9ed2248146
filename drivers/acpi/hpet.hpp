// SPDX-License-Identifier: MIT
// The HPET description table: the location of the registers of the High Precision Event Timer.
// Source: IA-PC HPET Specification 1.0a, section 3.2.4.
#pragma once

#include "drivers/acpi/table.hpp"

namespace drivers::acpi {

struct Hpet {
    std::uint64_t address = 0; // physical; 1 KiB of registers
    std::uint8_t number = 0;
    std::uint16_t minimum_tick = 0; // minimum period, in main counter ticks, without lost periodic interrupts
};

inline constexpr Signature kHpetSignature = "HPET";

// Reads the table. corrupt: it is too short, or the address is 0. unsupported: the registers are not in memory space.
[[nodiscard]] lib::Result<Hpet> parse_hpet(const Table& table);

} // namespace drivers::acpi
