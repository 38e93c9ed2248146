// SPDX-License-Identifier: MIT
// The path from the root pointer to a table: RSDP -> XSDT (64-bit entries) or RSDT (32-bit) -> table by signature. A
// damaged table has no effect unless it is requested. Source: ACPI Specification 6.5, sections 5.2.5, 5.2.7, 5.2.8.
//
//   RSDP: 0 "RSD PTR " | 8 checksum of 20 bytes | 9 OEM id | 15 revision | 16 RSDT u32
//         from revision 2: 20 length u32 | 24 XSDT u64 | 32 checksum of `length` bytes | 33 reserved
#pragma once

#include "drivers/acpi/table.hpp"

namespace drivers::acpi {

class Tables {
  public:
    constexpr Tables() = default;

    // Opens the tables. not_found: the address is 0 or not readable, or there is no root table. corrupt: signature,
    // length or checksum is wrong. `memory` must outlive the result. Context: any.
    [[nodiscard]] static lib::Result<Tables> open(const PhysicalMemory& memory, std::uint64_t rsdp_address);

    // Returns the table with this signature; `index` counts from 0 if several have the same one (SSDT). Errors:
    // not_found, corrupt.
    [[nodiscard]] lib::Result<Table> find(Signature signature, std::size_t index = 0) const;

    // Returns a table that another one points to (the DSDT, from the FADT). Errors: not_found, corrupt.
    [[nodiscard]] lib::Result<Table> at(std::uint64_t address, Signature signature) const;

    [[nodiscard]] constexpr std::size_t entry_count() const { return m_entries.size() / m_entry_bytes; }

  private:
    [[nodiscard]] std::uint64_t entry(std::size_t index) const;

    const PhysicalMemory* m_memory = nullptr; // null only before open()
    std::span<const std::byte> m_entries;
    std::size_t m_entry_bytes = 8; // 4 in an RSDT
};

} // namespace drivers::acpi
