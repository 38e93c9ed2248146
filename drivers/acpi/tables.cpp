// SPDX-License-Identifier: MIT
// Reads the root pointer, the root table and the header of each table.
#include "drivers/acpi/tables.hpp"

#include "lib/endian.hpp"

#include <algorithm>

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

// --- RSDP, RSDT and XSDT ---

namespace {

constexpr std::string_view kRootSignature = "RSD PTR ";
constexpr std::size_t kRootBytesRevision0 = 20;
constexpr std::size_t kRootBytesRevision2 = 36;
constexpr std::size_t kRootBytesMax = 4096;

struct RootPointer {
    std::uint32_t rsdt = 0;
    std::uint64_t xsdt = 0; // 0 before revision 2
};

bool has_root_signature(std::span<const std::byte> bytes) {
    return std::ranges::equal(bytes, kRootSignature, {}, [](std::byte byte) { return static_cast<char>(byte); });
}

lib::Result<RootPointer> read_root_pointer(const PhysicalMemory& memory, std::uint64_t address) {
    const auto old_part = memory.map(address, kRootBytesRevision0);
    if (!old_part) {
        return old_part.error();
    }
    lib::ByteReader reader(old_part.value());
    const bool signed_right = has_root_signature(reader.take(kRootSignature.size()));
    reader.take(7); // checksum, OEM id
    const auto revision = reader.le<std::uint8_t>();
    RootPointer root;
    root.rsdt = reader.le<std::uint32_t>();
    if (!signed_right || reader.failed() || !checksum_is_zero(old_part.value())) {
        return lib::Error::corrupt;
    }
    if (revision < 2) {
        return root;
    }

    const auto fixed = memory.map(address, kRootBytesRevision2);
    if (!fixed) {
        return fixed.error();
    }
    lib::ByteReader extension(fixed.value().subspan(kRootBytesRevision0));
    const auto length = extension.le<std::uint32_t>();
    root.xsdt = extension.le<std::uint64_t>();
    if (length < kRootBytesRevision2 || length > kRootBytesMax) {
        return lib::Error::corrupt;
    }
    const auto whole = memory.map(address, length);
    if (!whole || !checksum_is_zero(whole.value())) {
        return lib::Error::corrupt;
    }
    return root;
}

} // namespace

lib::Result<Tables> Tables::open(const PhysicalMemory& memory, std::uint64_t rsdp_address) {
    if (rsdp_address == 0) {
        return lib::Error::not_found;
    }
    const auto root = read_root_pointer(memory, rsdp_address);
    if (!root) {
        return root.error();
    }
    const bool extended = root.value().xsdt != 0;
    const std::uint64_t address = extended ? root.value().xsdt : root.value().rsdt;
    if (address == 0) {
        return lib::Error::not_found;
    }
    const auto table = read_table(memory, address, extended ? Signature("XSDT") : Signature("RSDT"));
    if (!table) {
        return table.error();
    }
    Tables tables;
    tables.m_memory = &memory;
    tables.m_entry_bytes = extended ? 8 : 4;
    tables.m_entries = table.value().bytes.subspan(kTableHeaderBytes);
    if (tables.m_entries.size() % tables.m_entry_bytes != 0) {
        return lib::Error::corrupt;
    }
    return tables;
}

std::uint64_t Tables::entry(std::size_t index) const {
    const auto bytes = m_entries.subspan(index * m_entry_bytes);
    return m_entry_bytes == 8 ? lib::load_le<std::uint64_t>(bytes) : lib::load_le<std::uint32_t>(bytes);
}

lib::Result<Table> Tables::find(Signature signature, std::size_t index) const {
    for (std::size_t i = 0; i < entry_count(); ++i) {
        const std::uint64_t address = entry(i);
        if (address == 0) {
            continue; // some firmware leaves empty entries
        }
        const auto found = read_signature(*m_memory, address);
        if (!found || found.value() != signature) {
            continue; // another table, readable or not
        }
        if (index == 0) {
            return read_table(*m_memory, address, signature);
        }
        --index;
    }
    return lib::Error::not_found;
}

lib::Result<Table> Tables::at(std::uint64_t address, Signature signature) const {
    if (m_memory == nullptr || address == 0) {
        return lib::Error::not_found;
    }
    return read_table(*m_memory, address, signature);
}

} // namespace drivers::acpi
