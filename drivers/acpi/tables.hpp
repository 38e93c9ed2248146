// SPDX-License-Identifier: MIT
// Finds the ACPI tables that firmware leaves in memory as a tree, and checks a table before its contents are used.
// contents.hpp decodes the contents. Context: any.
#pragma once

#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::acpi {

// Gives the ACPI parser access to physical memory: the kernel uses its identity mapping, a test a vector.

class PhysicalMemory {
  public:
    PhysicalMemory(const PhysicalMemory&) = delete;
    PhysicalMemory& operator=(const PhysicalMemory&) = delete;

    // Returns exactly size_bytes bytes at a physical address, which are readable until the end of the program.
    // not_found: a part of the range is not readable memory (the range may also wrap, because callers pass unchecked
    // values of the tables).
    [[nodiscard]] virtual lib::Result<std::span<const std::byte>> map(std::uint64_t address,
                                                                      std::size_t size_bytes) const = 0;

  protected:
    constexpr PhysicalMemory() = default;
    ~PhysicalMemory() = default;
};

// An ACPI system description table has a 36-byte header, whose length and checksum are checked before the contents are
// used. Source: ACPI Specification 6.5, section 5.2.6.
//
//   0 signature[4] | 4 length u32 | 8 revision u8 | 9 checksum u8 | 10 OEM fields | 36 contents

inline constexpr std::size_t kTableHeaderBytes = 36;
inline constexpr std::size_t kTableBytesMax = 16U << 20; // larger than any real table; bounds the checksum loop

struct Signature {
    std::array<char, 4> text{};

    constexpr Signature() = default;

    // The conversion is implicit on purpose: `tables.find("APIC")`.
    consteval Signature(const char (&literal)[5]) // NOLINT(google-explicit-constructor)
        : text{literal[0], literal[1], literal[2], literal[3]} {}

    friend constexpr bool operator==(const Signature&, const Signature&) = default;
};

struct Table {
    Signature signature;
    std::uint8_t revision = 0;
    std::span<const std::byte> bytes; // the whole table with its header; at least kTableHeaderBytes
};

// Returns whether the bytes sum up to 0 modulo 256.
[[nodiscard]] bool checksum_is_zero(std::span<const std::byte> bytes);

// Reads only the signature. not_found: it is not readable.
[[nodiscard]] lib::Result<Signature> read_signature(const PhysicalMemory& memory, std::uint64_t address);

// Reads and checks a whole table. not_found: the header is not readable. corrupt: signature, length or checksum is
// wrong.
[[nodiscard]] lib::Result<Table> read_table(const PhysicalMemory& memory, std::uint64_t address, Signature expected);

// The path from the root pointer to a table is RSDP -> XSDT (64-bit entries) or RSDT (32-bit) -> table by signature. A
// damaged table has no effect unless it is requested. Source: ACPI Specification 6.5, sections 5.2.5, 5.2.7, 5.2.8.
//
//   RSDP: 0 "RSD PTR " | 8 checksum of 20 bytes | 9 OEM id | 15 revision | 16 RSDT u32
//         from revision 2: 20 length u32 | 24 XSDT u64 | 32 checksum of `length` bytes | 33 reserved

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
