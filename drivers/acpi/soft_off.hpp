// SPDX-License-Identifier: MIT
// The value to write to PM1_CNT to switch the machine off: the \_S5_ package of the DSDT (or of an SSDT). This is not
// an AML interpreter: it searches the byte code for the one definition `Name (_S5_, Package () { ... })` and checks
// every byte of it. Source: ACPI Specification 6.5, sections 7.4.2 (\_Sx), 20.2.4 (package length), 20.2.5.4 (package).
//
//   08  [5C]  5F 53 35 5F   12   length(1..4)  count   element ...
//   Name  \   "_S5_"      Package
#pragma once

#include "drivers/acpi/tables.hpp"

namespace drivers::acpi {

struct SleepType {
    std::uint8_t pm1a = 0; // 0..7, for bits 12..10
    std::uint8_t pm1b = 0;
};

// Searches byte code. not_found: it has no definition. corrupt: the definition does not have numbers 0..7.
[[nodiscard]] lib::Result<SleepType> parse_soft_off(std::span<const std::byte> aml);

// Searches the DSDT, then the SSDTs. The errors are those of parse_soft_off(), and those of reading the DSDT.
[[nodiscard]] lib::Result<SleepType> find_soft_off(const Tables& tables, std::uint64_t dsdt_address);

} // namespace drivers::acpi
