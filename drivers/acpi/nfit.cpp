// SPDX-License-Identifier: MIT
// The NFIT's structures: type u16, length u16, contents. See nfit.hpp.
#include "drivers/acpi/nfit.hpp"

#include "lib/endian.hpp"

#include <algorithm>

namespace drivers::acpi {

namespace {

constexpr std::uint16_t kTypeAddressRange = 0;
constexpr std::uint16_t kTypeRegionMapping = 1;
constexpr std::size_t kStructureHeaderBytes = 4;

// 66F0D379-B4F3-4074-AC43-0D3318B78CDB, "byte-addressable persistent memory"; the first three groups little-endian.
constexpr std::array<std::uint8_t, 16> kPersistentMemory{0x79, 0xD3, 0xF0, 0x66, 0xF3, 0xB4, 0x74, 0x40,
                                                         0xAC, 0x43, 0x0D, 0x33, 0x18, 0xB7, 0x8C, 0xDB};

// Returns false if the structure is damaged.
bool read_address_range(lib::ByteReader& structure, Nfit& nfit) {
    PersistentRange range;
    range.index = structure.le<std::uint16_t>();
    structure.take(2 + 4 + 4); // flags, reserved, proximity domain
    const auto kind = structure.take(kPersistentMemory.size());
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

// Adds the state of the module to the range that it is a part of. Returns false if the structure is damaged.
bool read_region_mapping(lib::ByteReader& structure, Nfit& nfit) {
    structure.take(4 + 2 + 2); // device handle, physical and region number
    const auto index = structure.le<std::uint16_t>();
    structure.take(2 + 8 + 8 + 8 + 2 + 2); // control region, size, offset, address in the module, interleave, ways
    const auto state = structure.le<std::uint16_t>();
    if (structure.failed()) {
        return false;
    }
    for (PersistentRange& range : nfit.ranges) {
        range.state |= range.index == index ? state : std::uint16_t{0};
    }
    return true;
}

// Calls read(structure, nfit) for every structure of this type. Returns false if one is damaged.
bool read_structures(const Table& table, std::uint16_t wanted, Nfit& nfit, bool (*read)(lib::ByteReader&, Nfit&)) {
    lib::ByteReader reader(table.bytes.subspan(kTableHeaderBytes));
    reader.take(4);                                      // reserved
    while (reader.remaining() > 0 && !reader.failed()) { // each round consumes at least a header
        const auto type = reader.le<std::uint16_t>();
        const auto length = reader.le<std::uint16_t>();
        if (length < kStructureHeaderBytes) {
            return false;
        }
        lib::ByteReader structure(reader.take(length - kStructureHeaderBytes));
        if (reader.failed() || (type == wanted && !read(structure, nfit))) {
            return false;
        }
    }
    return !reader.failed();
}

} // namespace

std::string_view persistence_defect(const PersistentRange& range) {
    struct Flag {
        unsigned bit;
        std::string_view text;
    };

    // Table 5.139; the other flags concern its health, not its contents.
    constexpr std::array<Flag, 5> kDefects{{{3, "is not armed"},
                                            {0, "failed to save its contents"},
                                            {1, "failed to restore its contents"},
                                            {2, "failed to flush its contents"},
                                            {6, "is not mapped"}}};
    for (const Flag& flag : kDefects) {
        if ((range.state >> flag.bit & 1U) != 0) {
            return flag.text;
        }
    }
    return {};
}

// Mappings refer to ranges, in any order, so the ranges are read first.
lib::Result<Nfit> parse_nfit(const Table& table) {
    Nfit nfit;
    if (table.signature != kNfitSignature || !read_structures(table, kTypeAddressRange, nfit, &read_address_range) ||
        !read_structures(table, kTypeRegionMapping, nfit, &read_region_mapping)) {
        return lib::Error::corrupt;
    }
    return nfit;
}

} // namespace drivers::acpi
