// SPDX-License-Identifier: MIT
// The MADT's entries: type u8, length u8, contents. See madt.hpp.
#include "drivers/acpi/madt.hpp"

#include "lib/assert.hpp"
#include "lib/endian.hpp"

namespace drivers::acpi {

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

} // namespace drivers::acpi
