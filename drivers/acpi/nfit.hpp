// SPDX-License-Identifier: MIT
// The NVDIMM Firmware Interface Table, reduced to the physical addresses of persistent memory and to whether the
// modules there keep what is written. Source: ACPI Specification 6.5, section 5.2.25 (structure types 0, System
// Physical Address Range, and 1, NVDIMM Region Mapping).
#pragma once

#include "drivers/acpi/bounded_list.hpp"
#include "drivers/acpi/table.hpp"

#include <string_view>

namespace drivers::acpi {

struct PersistentRange {
    std::uint64_t address = 0; // physical
    std::uint64_t size_bytes = 0;
    std::uint16_t index = 0; // region mappings refer to it by this
    std::uint16_t state = 0; // NVDIMM state flags of all its modules
};

// Returns why the range does not keep what is written, as part of a sentence, or nothing if nothing is known against
// it.
[[nodiscard]] std::string_view persistence_defect(const PersistentRange& range);

struct Nfit {
    BoundedList<PersistentRange, 8> ranges; // in the table's order; other kinds of range are not listed
};

inline constexpr Signature kNfitSignature = "NFIT";

// Reads the table. corrupt: a structure is too short or does not fit, or a range is empty or wraps.
[[nodiscard]] lib::Result<Nfit> parse_nfit(const Table& table);

} // namespace drivers::acpi
