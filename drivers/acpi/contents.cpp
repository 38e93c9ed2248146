// SPDX-License-Identifier: MIT
// Decodes the tables' fields by offset. The FADT describes each register twice: as a 32-bit port (since ACPI 1.0) and
// as a generic address (since 2.0), which takes precedence if it is not zero.
#include "drivers/acpi/contents.hpp"

#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>

namespace drivers::acpi {

namespace {

constexpr std::size_t kBytesMin = 116;
constexpr std::size_t kOffsetDsdt = 40;
constexpr std::size_t kOffsetSciInterrupt = 46;
constexpr std::size_t kOffsetSmiCommand = 48;
constexpr std::size_t kOffsetAcpiEnable = 52;
constexpr std::size_t kOffsetPm1aControl = 64;
constexpr std::size_t kOffsetPm1bControl = 68;
constexpr std::size_t kOffsetPmTimer = 76;
constexpr std::size_t kOffsetFlags = 112;
constexpr std::uint32_t kFlagTimer32 = 1U << 8;
constexpr std::uint32_t kFlagResetRegister = 1U << 10;
constexpr std::size_t kOffsetResetRegister = 116;
constexpr std::size_t kOffsetResetValue = 128;
constexpr std::size_t kOffsetXDsdt = 140;
constexpr std::size_t kOffsetXPm1aControl = 172;
constexpr std::size_t kOffsetXPm1bControl = 184;
constexpr std::size_t kOffsetXPmTimer = 208;

// Returns the field, or 0 if the table is too short to contain it: 0 means "absent" for every optional field.
template <std::unsigned_integral T>
T field(const Table& table, std::size_t offset) {
    return offset + sizeof(T) <= table.bytes.size() ? lib::load_le<T>(table.bytes.subspan(offset)) : T{0};
}

GenericAddress address_field(const Table& table, std::size_t offset) {
    if (offset + GenericAddress::kBytes > table.bytes.size()) {
        return {};
    }
    lib::ByteReader reader(table.bytes.subspan(offset));
    return read_generic_address(reader);
}

std::optional<std::uint16_t> port_field(const Table& table, std::size_t offset, std::size_t extended_offset) {
    const GenericAddress extended = address_field(table, extended_offset);
    if (extended.space == AddressSpace::io && extended.address != 0 && extended.address <= 0xFFFF) {
        return static_cast<std::uint16_t>(extended.address);
    }
    const auto port = field<std::uint32_t>(table, offset);
    if (port != 0 && port <= 0xFFFF) {
        return static_cast<std::uint16_t>(port);
    }
    return std::nullopt;
}

std::optional<ResetRegister> reset_register(const Table& table) {
    ResetRegister reset;
    reset.where = address_field(table, kOffsetResetRegister);
    reset.value = field<std::uint8_t>(table, kOffsetResetValue);
    const bool reachable = (reset.where.space == AddressSpace::io && reset.where.address <= 0xFFFF) ||
                           reset.where.space == AddressSpace::memory;
    const bool offered = (field<std::uint32_t>(table, kOffsetFlags) & kFlagResetRegister) != 0;
    if (!offered || !reachable || reset.where.address == 0 || reset.where.width_bits != 8) {
        return std::nullopt;
    }
    return reset;
}

} // namespace

lib::Result<Fadt> parse_fadt(const Table& table) {
    if (table.signature != kFadtSignature || table.bytes.size() < kBytesMin) {
        return lib::Error::corrupt;
    }
    Fadt fadt;
    const auto extended_dsdt = field<std::uint64_t>(table, kOffsetXDsdt);
    fadt.dsdt_address = extended_dsdt != 0 ? extended_dsdt : field<std::uint32_t>(table, kOffsetDsdt);
    if (fadt.dsdt_address == 0) {
        return lib::Error::corrupt;
    }
    fadt.sci_interrupt = field<std::uint16_t>(table, kOffsetSciInterrupt);
    fadt.pm1a_control_port = port_field(table, kOffsetPm1aControl, kOffsetXPm1aControl);
    fadt.pm1b_control_port = port_field(table, kOffsetPm1bControl, kOffsetXPm1bControl);
    if (const auto port = port_field(table, kOffsetPmTimer, kOffsetXPmTimer)) {
        const bool wide = (field<std::uint32_t>(table, kOffsetFlags) & kFlagTimer32) != 0;
        fadt.pm_timer = PmTimer{.port = *port, .width = wide ? TimerWidth::bits_32 : TimerWidth::bits_24};
    }
    fadt.reset = reset_register(table);
    const auto smi_command = field<std::uint32_t>(table, kOffsetSmiCommand);
    const auto enable = field<std::uint8_t>(table, kOffsetAcpiEnable);
    if (smi_command != 0 && smi_command <= 0xFFFF && enable != 0) {
        fadt.acpi_enable = AcpiEnable{.port = static_cast<std::uint16_t>(smi_command), .value = enable};
    }
    return fadt;
}

lib::Result<Hpet> parse_hpet(const Table& table) {
    if (table.signature != kHpetSignature) {
        return lib::Error::corrupt;
    }
    lib::ByteReader reader(table.bytes.subspan(kTableHeaderBytes));
    reader.take(4); // event timer block id, which the registers repeat
    const GenericAddress base = read_generic_address(reader);
    Hpet hpet;
    hpet.address = base.address;
    hpet.number = reader.le<std::uint8_t>();
    hpet.minimum_tick = reader.le<std::uint16_t>();
    if (reader.failed() || base.address == 0) {
        return lib::Error::corrupt;
    }
    if (base.space != AddressSpace::memory) {
        return lib::Error::unsupported;
    }
    return hpet;
}

// --- MADT: each entry is its type u8, its length u8, and its contents ---

namespace {

constexpr std::uint32_t kFlagLegacyPics = 1U << 0;
constexpr std::uint32_t kFlagProcessorEnabled = 1U << 0;
constexpr std::size_t kEntryHeaderBytes = 2;
constexpr std::uint8_t kIsaIrqMax = 15;

enum class EntryType : std::uint8_t {
    local_apic = 0,
    io_apic = 1,
    interrupt_override = 2,
    local_apic_address = 5,
    local_x2apic = 9,
};

// Decodes the wiring. 00 means "as the bus does", which for ISA is edge, active high. 10 is reserved.
bool decode_wiring(std::uint16_t flags, InterruptLine& line) {
    const unsigned polarity = flags & 3U;
    const unsigned trigger = (flags >> 2) & 3U;
    line.polarity = polarity == 3 ? Polarity::active_low : Polarity::active_high;
    line.trigger = trigger == 3 ? Trigger::level : Trigger::edge;
    return polarity != 2 && trigger != 2;
}

// Returns false if the entry is damaged. A short entry makes the reader fail.
bool read_entry(std::uint8_t type, lib::ByteReader& entry, Madt& madt) {
    switch (static_cast<EntryType>(type)) {
    case EntryType::local_apic: {
        entry.take(1); // processor UID
        const auto apic_id = entry.le<std::uint8_t>();
        const auto flags = entry.le<std::uint32_t>();
        madt.processors.add({.apic_id = apic_id, .enabled = (flags & kFlagProcessorEnabled) != 0});
        break;
    }
    case EntryType::local_x2apic: {
        entry.take(2);
        const auto apic_id = entry.le<std::uint32_t>();
        const auto flags = entry.le<std::uint32_t>();
        madt.processors.add({.apic_id = apic_id, .enabled = (flags & kFlagProcessorEnabled) != 0});
        break;
    }
    case EntryType::io_apic: {
        IoApic io_apic;
        io_apic.id = entry.le<std::uint8_t>();
        entry.take(1);
        io_apic.address = entry.le<std::uint32_t>();
        io_apic.gsi_base = entry.le<std::uint32_t>();
        madt.io_apics.add(io_apic);
        break;
    }
    case EntryType::interrupt_override: {
        InterruptOverride item;
        const auto bus = entry.le<std::uint8_t>();
        item.isa_irq = entry.le<std::uint8_t>();
        item.line.gsi = entry.le<std::uint32_t>();
        const bool wired = decode_wiring(entry.le<std::uint16_t>(), item.line);
        if (bus != 0 || item.isa_irq > kIsaIrqMax || !wired) {
            return false;
        }
        madt.overrides.add(item);
        break;
    }
    case EntryType::local_apic_address:
        entry.take(2);
        madt.local_apic_address = entry.le<std::uint64_t>();
        break;
    }
    return !entry.failed();
}

} // namespace

InterruptLine Madt::isa_line(std::uint8_t isa_irq) const {
    ASSERT(isa_irq <= kIsaIrqMax);
    for (const InterruptOverride& item : overrides) {
        if (item.isa_irq == isa_irq) {
            return item.line;
        }
    }
    return {.gsi = isa_irq, .polarity = Polarity::active_high, .trigger = Trigger::edge};
}

lib::Result<void> parse_madt(const Table& table, Madt& madt) {
    if (table.signature != kMadtSignature) {
        return lib::Error::corrupt;
    }
    lib::ByteReader reader(table.bytes.subspan(kTableHeaderBytes));
    madt.local_apic_address = reader.le<std::uint32_t>();
    madt.has_legacy_pics = (reader.le<std::uint32_t>() & kFlagLegacyPics) != 0;
    while (reader.remaining() > 0 && !reader.failed()) { // each round consumes at least a header
        const auto type = reader.le<std::uint8_t>();
        const auto length = reader.le<std::uint8_t>();
        if (length < kEntryHeaderBytes) {
            return lib::Error::corrupt;
        }
        lib::ByteReader entry(reader.take(length - kEntryHeaderBytes));
        if (reader.failed() || !read_entry(type, entry, madt)) {
            return lib::Error::corrupt;
        }
    }
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    return {};
}

// --- NFIT: each structure is its type u16, its length u16, and its contents ---

namespace {

constexpr std::uint16_t kTypeAddressRange = 0;
constexpr std::uint16_t kTypeRegionMapping = 1;
constexpr std::size_t kStructureHeaderBytes = 4;

// This is 66F0D379-B4F3-4074-AC43-0D3318B78CDB, "byte-addressable persistent memory", with little-endian groups.
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

    // These are the flags of table 5.139 that concern the contents; the others concern the module's health.
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
