// SPDX-License-Identifier: MIT
// The NVDIMM Firmware Interface Table, reduced to the physical addresses of persistent memory.
// Source: ACPI Specification 6.5, section 5.2.25 (structure type 0, System Physical Address Range).
#pragma once

#include "drivers/acpi/bounded_list.hpp"
#include "drivers/acpi/table.hpp"

namespace drivers::acpi {

struct PersistentRange {
    std::uint64_t address = 0; // physical
    std::uint64_t size_bytes = 0;
};

struct Nfit {
    BoundedList<PersistentRange, 8> ranges; // in the table's order; other kinds of range are not listed
};

inline constexpr Signature kNfitSignature = "NFIT";

// Errors: corrupt (a structure that is too short or does not fit, a range that is empty or wraps).
[[nodiscard]] lib::Result<Nfit> parse_nfit(const Table& table);

} // namespace drivers::acpi
