// SPDX-License-Identifier: MIT
// The Generic Address Structure: the location of a register. Source: ACPI Specification 6.5, section 5.2.3.2.
#pragma once

#include "lib/endian.hpp"

namespace drivers::acpi {

enum class AddressSpace : std::uint8_t {
    memory = 0,
    io = 1,
    pci_configuration = 2,
    other = 0xFF, // embedded controller, SMBus, ...: not accessible here
};

struct GenericAddress {
    static constexpr std::size_t kBytes = 12;

    AddressSpace space = AddressSpace::other;
    std::uint8_t width_bits = 0;
    std::uint64_t address = 0; // 0: the register does not exist
};

// Reads a generic address, and consumes kBytes.
[[nodiscard]] constexpr GenericAddress read_generic_address(lib::ByteReader& reader) {
    GenericAddress result;
    const auto space = reader.le<std::uint8_t>();
    result.space = space <= 2 ? static_cast<AddressSpace>(space) : AddressSpace::other;
    result.width_bits = reader.le<std::uint8_t>();
    reader.take(2); // bit offset, access size
    result.address = reader.le<std::uint64_t>();
    return result;
}

} // namespace drivers::acpi
