// SPDX-License-Identifier: MIT
// The NFIT's structures: type u16, length u16, contents. See nfit.hpp.
#include "drivers/acpi/nfit.hpp"

#include "lib/endian.hpp"

#include <algorithm>

namespace drivers::acpi {

namespace {

constexpr std::uint16_t kTypeAddressRange = 0;
constexpr std::size_t kStructureHeaderBytes = 4;

// 66F0D379-B4F3-4074-AC43-0D3318B78CDB, "byte-addressable persistent memory"; the first three groups little-endian.
constexpr std::array<std::uint8_t, 16> kPersistentMemory{0x79, 0xD3, 0xF0, 0x66, 0xF3, 0xB4, 0x74, 0x40,
                                                         0xAC, 0x43, 0x0D, 0x33, 0x18, 0xB7, 0x8C, 0xDB};

// False if the structure is damaged.
bool read_address_range(lib::ByteReader& structure, Nfit& nfit) {
    structure.take(2 + 2 + 4 + 4); // index, flags, reserved, proximity domain
    const auto kind = structure.take(kPersistentMemory.size());
    PersistentRange range;
    range.address = structure.le<std::uint64_t>();
    range.size_bytes = structure.le<std::uint64_t>();
    structure.take(8); // memory attributes
    if (structure.failed()) {
        return false;
    }
    if (!std::ranges::equal(kind, kPersistentMemory, {}, [](std::byte byte) { return std::uint8_t(byte); })) {
        return true; // a control region, a virtual disk, ...
    }
    if (range.size_bytes == 0 || range.address + range.size_bytes < range.address) {
        return false;
    }
    nfit.ranges.add(range);
    return true;
}

} // namespace

lib::Result<Nfit> parse_nfit(const Table& table) {
    if (table.signature != kNfitSignature) {
        return lib::Error::corrupt;
    }
    lib::ByteReader reader(table.bytes.subspan(kTableHeaderBytes));
    reader.take(4); // reserved
    Nfit nfit;
    while (reader.remaining() > 0 && !reader.failed()) { // each round consumes at least a header
        const auto type = reader.le<std::uint16_t>();
        const auto length = reader.le<std::uint16_t>();
        if (length < kStructureHeaderBytes) {
            return lib::Error::corrupt;
        }
        lib::ByteReader structure(reader.take(length - kStructureHeaderBytes));
        if (reader.failed() || (type == kTypeAddressRange && !read_address_range(structure, nfit))) {
            return lib::Error::corrupt;
        }
    }
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    return nfit;
}

} // namespace drivers::acpi
