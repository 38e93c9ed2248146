// SPDX-License-Identifier: MIT
// One ACPI system description table: the 36-byte header, its length and its checksum, checked before the contents are
// used. Source: ACPI Specification 6.5, section 5.2.6.
//
//   0 signature[4] | 4 length u32 | 8 revision u8 | 9 checksum u8 | 10 OEM fields | 36 contents
#pragma once

#include "drivers/acpi/physical_memory.hpp"

#include <array>

namespace drivers::acpi {

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

} // namespace drivers::acpi
