// SPDX-License-Identifier: MIT
// Header, length and checksum of a table. See table.hpp.
#include "drivers/acpi/table.hpp"

#include "lib/endian.hpp"

namespace drivers::acpi {

namespace {

Signature signature_of(std::span<const std::byte> bytes) {
    Signature signature;
    for (std::size_t i = 0; i < signature.text.size(); ++i) {
        signature.text[i] = static_cast<char>(bytes[i]);
    }
    return signature;
}

} // namespace

bool checksum_is_zero(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (const std::byte byte : bytes) {
        sum += static_cast<std::uint8_t>(byte);
    }
    return (sum & 0xFF) == 0;
}

lib::Result<Signature> read_signature(const PhysicalMemory& memory, std::uint64_t address) {
    const auto bytes = memory.map(address, kTableHeaderBytes);
    if (!bytes) {
        return bytes.error();
    }
    return signature_of(bytes.value());
}

lib::Result<Table> read_table(const PhysicalMemory& memory, std::uint64_t address, Signature expected) {
    const auto header = memory.map(address, kTableHeaderBytes);
    if (!header) {
        return header.error();
    }
    lib::ByteReader reader(header.value());
    const Signature signature = signature_of(reader.take(4));
    const auto length = reader.le<std::uint32_t>();
    const auto revision = reader.le<std::uint8_t>();
    if (signature != expected || length < kTableHeaderBytes || length > kTableBytesMax) {
        return lib::Error::corrupt;
    }
    const auto whole = memory.map(address, length);
    if (!whole || !checksum_is_zero(whole.value())) {
        return lib::Error::corrupt; // a length beyond the memory is an error like a wrong checksum
    }
    Table table;
    table.signature = signature;
    table.revision = revision;
    table.bytes = whole.value();
    return table;
}

} // namespace drivers::acpi
