// SPDX-License-Identifier: MIT
// Tests the contents of the single ACPI tables: real ones from QEMU, the same ones damaged, and corner cases that QEMU
// does not produce.
#include "drivers/acpi/contents.hpp"
#include "lib/endian.hpp"
#include "tests/support/fake_physical_memory.hpp"
#include "tests/support/qemu_acpi_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>

namespace drivers::acpi {
namespace contents_test {

using test::from_hex;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const unsigned value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

template <typename T>
void patch(Bytes& bytes, std::size_t offset, T value) {
    lib::store_le(std::span(bytes).subspan(offset), value);
}

Table as_table(Signature signature, const Bytes& bytes) {
    Table table;
    table.signature = signature;
    table.bytes = bytes;
    return table;
}

// --- FADT ----------------------------------------------------------------------------------------------------------

TEST(AcpiFadt, ReadsQemusQ35Table) {
    const Bytes bytes = from_hex(test::kQemuQ35Fadt);
    const auto fadt = parse_fadt(as_table(kFadtSignature, bytes));
    ASSERT_TRUE(fadt);
    EXPECT_EQ(fadt.value().dsdt_address, 0x3FD'F040U);
    EXPECT_EQ(fadt.value().sci_interrupt, 9);
    EXPECT_EQ(fadt.value().pm1a_control_port, 0x604);
    EXPECT_FALSE(fadt.value().pm1b_control_port.has_value());
    ASSERT_TRUE(fadt.value().pm_timer.has_value());
    EXPECT_EQ(fadt.value().pm_timer->port, 0x608);
    EXPECT_EQ(fadt.value().pm_timer->width, TimerWidth::bits_24);
    ASSERT_TRUE(fadt.value().reset.has_value());
    EXPECT_EQ(fadt.value().reset->where.space, AddressSpace::io);
    EXPECT_EQ(fadt.value().reset->where.address, 0xCF9U);
    EXPECT_EQ(fadt.value().reset->value, 0x0F);
    ASSERT_TRUE(fadt.value().acpi_enable.has_value());
    EXPECT_EQ(fadt.value().acpi_enable->port, 0xB2);
    EXPECT_EQ(fadt.value().acpi_enable->value, 2);
}

TEST(AcpiFadt, ReadsTheShortTableOfAcpi1) {
    const Bytes bytes = from_hex(test::kQemuPcFadt);
    const auto fadt = parse_fadt(as_table(kFadtSignature, bytes));
    ASSERT_TRUE(fadt);
    EXPECT_EQ(fadt.value().pm1a_control_port, 0x604);
    EXPECT_EQ(fadt.value().dsdt_address, 0x3FD'F040U);
    EXPECT_FALSE(fadt.value().reset.has_value());
}

TEST(AcpiFadt, PrefersTheExtendedAddressAndIgnoresOneThatIsNoPort) {
    Bytes bytes = from_hex(test::kQemuQ35Fadt);
    bytes[172 + 4] = std::byte{0x44}; // X_PM1a_CNT: io 0x644
    bytes[172 + 5] = std::byte{0x06};
    EXPECT_EQ(parse_fadt(as_table(kFadtSignature, bytes)).value().pm1a_control_port, 0x644);
    bytes[172] = std::byte{0}; // in memory
    EXPECT_EQ(parse_fadt(as_table(kFadtSignature, bytes)).value().pm1a_control_port, 0x604);
}

TEST(AcpiFadt, HasNoResetRegisterUnlessTheFlagSaysSo) {
    Bytes bytes = from_hex(test::kQemuQ35Fadt);
    bytes[113] &= ~std::byte{0x04}; // flags bit 10
    EXPECT_FALSE(parse_fadt(as_table(kFadtSignature, bytes)).value().reset.has_value());
}

TEST(AcpiFadt, RecognisesA32BitTimer) {
    Bytes bytes = from_hex(test::kQemuQ35Fadt);
    bytes[113] |= std::byte{0x01}; // flags bit 8
    EXPECT_EQ(parse_fadt(as_table(kFadtSignature, bytes)).value().pm_timer->width, TimerWidth::bits_32);
}

TEST(AcpiFadt, IsCorruptBelow116BytesOrWithoutDsdt) {
    Bytes bytes = from_hex(test::kQemuPcFadt);
    Bytes without = bytes;
    std::memset(&without[40], 0, 4);
    EXPECT_EQ(parse_fadt(as_table(kFadtSignature, without)).error(), lib::Error::corrupt);
    bytes.resize(115);
    EXPECT_EQ(parse_fadt(as_table(kFadtSignature, bytes)).error(), lib::Error::corrupt);
}

Fadt fadt_of(const Bytes& bytes) {
    const auto fadt = parse_fadt(as_table(kFadtSignature, bytes));
    EXPECT_TRUE(fadt.ok());
    return fadt ? fadt.value() : Fadt{};
}

// Without the generic address the 32-bit port at 64 counts.
TEST(AcpiFadt, APortHas16Bits) {
    Bytes bytes = from_hex(test::kQemuQ35Fadt);
    for (const auto& [address, port] :
         {std::pair{0x1U, 0x1}, std::pair{0xFFFFU, 0xFFFF}, std::pair{0x1'0000U, 0x604}, std::pair{0U, 0x604}}) {
        patch(bytes, 172 + 4, std::uint64_t{address});
        EXPECT_EQ(fadt_of(bytes).pm1a_control_port, port) << address;
    }
    patch(bytes, 64, std::uint32_t{0xFFFF});
    EXPECT_EQ(fadt_of(bytes).pm1a_control_port, 0xFFFF);
    patch(bytes, 64, std::uint32_t{0x1'0000});
    EXPECT_FALSE(fadt_of(bytes).pm1a_control_port.has_value());
    patch(bytes, 68, std::uint32_t{0x605}); // the second block, of which QEMU has none
    EXPECT_EQ(fadt_of(bytes).pm1b_control_port, 0x605);
    patch(bytes, 184, std::uint8_t{1});
    patch(bytes, 184 + 4, std::uint64_t{0x645});
    EXPECT_EQ(fadt_of(bytes).pm1b_control_port, 0x645);
}

TEST(AcpiFadt, AFieldThatTheTableIsTooShortForIsAbsent) {
    Bytes bytes = from_hex(test::kQemuQ35Fadt);
    patch(bytes, 140, std::uint64_t{0x1'2345'6000}); // X_DSDT
    patch(bytes, 172 + 4, std::uint64_t{0x644});     // X_PM1a_CNT
    const auto cut = [&bytes](std::size_t size) {
        return fadt_of(Bytes(bytes.begin(), bytes.begin() + std::ptrdiff_t(size)));
    };
    EXPECT_EQ(cut(184).pm1a_control_port, 0x644);
    EXPECT_EQ(cut(183).pm1a_control_port, 0x604);
    EXPECT_EQ(cut(148).dsdt_address, 0x1'2345'6000U);
    EXPECT_EQ(cut(147).dsdt_address, 0x3FD'F040U);
    EXPECT_EQ(cut(129).reset->value, 0x0F);
    EXPECT_EQ(cut(128).reset->value, 0);
    EXPECT_FALSE(cut(127).reset.has_value());
    EXPECT_EQ(cut(116).sci_interrupt, 9);
}

TEST(AcpiFadt, AResetRegisterIsAByteInMemoryOrAPort) {
    const auto reset_at = [](std::uint8_t space, std::uint64_t address, std::uint8_t width = 8) {
        Bytes bytes = from_hex(test::kQemuQ35Fadt);
        patch(bytes, 116, space);
        patch(bytes, 117, width);
        patch(bytes, 120, address);
        const auto reset = fadt_of(bytes).reset;
        return reset && reset->where.address == address && reset->where.space == AddressSpace{space};
    };
    EXPECT_TRUE(reset_at(1, 0xFFFF));
    EXPECT_FALSE(reset_at(1, 0x1'0000));
    EXPECT_FALSE(reset_at(1, 0));
    EXPECT_TRUE(reset_at(0, 0xFED0'0000));
    EXPECT_FALSE(reset_at(0, 0));
    EXPECT_FALSE(reset_at(2, 0xCF9)); // in PCI configuration space
    EXPECT_FALSE(reset_at(3, 0xCF9)); // at the embedded controller
    EXPECT_FALSE(reset_at(1, 0xCF9, 16));
}

TEST(AcpiFadt, ACommandPortWithAValueSwitchesAcpiOn) {
    const auto enable_by = [](std::uint32_t port, std::uint8_t value) {
        Bytes bytes = from_hex(test::kQemuQ35Fadt);
        patch(bytes, 48, port);
        patch(bytes, 52, value);
        const auto enable = fadt_of(bytes).acpi_enable;
        return enable ? std::pair<int, int>{enable->port, enable->value} : std::pair{-1, -1};
    };
    EXPECT_EQ(enable_by(0xFFFF, 0xF1), (std::pair{0xFFFF, 0xF1}));
    EXPECT_EQ(enable_by(1, 1), (std::pair{1, 1}));
    for (const auto& [port, value] : {std::pair{0x1'0000U, 2}, std::pair{0U, 2}, std::pair{0xB2U, 0}}) {
        EXPECT_EQ(enable_by(port, static_cast<std::uint8_t>(value)), (std::pair{-1, -1})) << port;
    }
}

TEST(AcpiParsers, TakeNoTableForAnother) {
    const Bytes fadt = from_hex(test::kQemuQ35Fadt);
    const Bytes madt = from_hex(test::kQemuQ35Madt);
    const Bytes hpet = from_hex(test::kQemuQ35Hpet);
    const Bytes nfit = from_hex(test::kQemuNfit);
    Madt result;
    EXPECT_EQ(parse_fadt(as_table("SSDT", fadt)).error(), lib::Error::corrupt);
    EXPECT_EQ(parse_madt(as_table("SSDT", madt), result).error(), lib::Error::corrupt);
    EXPECT_EQ(parse_hpet(as_table("SSDT", hpet)).error(), lib::Error::corrupt);
    EXPECT_EQ(parse_nfit(as_table("SSDT", nfit)).error(), lib::Error::corrupt);
}

// --- MADT ----------------------------------------------------------------------------------------------------------

TEST(AcpiMadt, ReadsQemusTable) {
    const Bytes bytes = from_hex(test::kQemuQ35Madt);
    Madt madt;
    ASSERT_TRUE(parse_madt(as_table(kMadtSignature, bytes), madt));
    EXPECT_EQ(madt.local_apic_address, 0xFEE0'0000U);
    EXPECT_TRUE(madt.has_legacy_pics);
    ASSERT_EQ(madt.processors.size(), 1U);
    EXPECT_EQ(madt.processors[0].apic_id, 0U);
    EXPECT_TRUE(madt.processors[0].enabled);
    ASSERT_EQ(madt.io_apics.size(), 1U);
    EXPECT_EQ(madt.io_apics[0].address, 0xFEC0'0000U);
    EXPECT_EQ(madt.io_apics[0].gsi_base, 0U);
    EXPECT_EQ(madt.overrides.size(), 5U);
}

TEST(AcpiMadt, ResolvesIsaInterrupts) {
    const Bytes bytes = from_hex(test::kQemuQ35Madt);
    Madt madt;
    ASSERT_TRUE(parse_madt(as_table(kMadtSignature, bytes), madt));
    EXPECT_EQ(madt.isa_line(0).gsi, 2U); // the timer is wired to input 2
    EXPECT_EQ(madt.isa_line(0).trigger, Trigger::edge);
    EXPECT_EQ(madt.isa_line(4).gsi, 4U); // not overridden
    EXPECT_EQ(madt.isa_line(4).polarity, Polarity::active_high);
    EXPECT_EQ(madt.isa_line(9).gsi, 9U);
    EXPECT_EQ(madt.isa_line(9).trigger, Trigger::level);
    EXPECT_EQ(madt.isa_line(9).polarity, Polarity::active_high);
}

TEST(AcpiMadt, UnderstandsX2apicsAddressOverridesAndPassesOverUnknownEntries) {
    Bytes contents = bytes_of({0, 0, 0xE0, 0xFE, 0, 0, 0, 0});
    const Bytes entries = bytes_of({0x7F, 4,  1, 2,                                           // unknown
                                    9,    16, 0, 0, 0x2A, 1, 0, 0, 0,    0, 0, 0, 5, 0, 0, 0, // x2APIC 0x12A, disabled
                                    5,    12, 0, 0, 0,    0, 0, 0, 1,    0, 0, 0,             // local APIC at 4 GiB
                                    2,    10, 0, 7, 20,   0, 0, 0, 0x0F, 0});                 // IRQ 7: low, level
    contents.insert(contents.end(), entries.begin(), entries.end());
    const Bytes table = test::make_table("APIC", contents);
    Madt madt;
    ASSERT_TRUE(parse_madt(as_table(kMadtSignature, table), madt));
    EXPECT_EQ(madt.local_apic_address, 0x1'0000'0000U);
    EXPECT_FALSE(madt.has_legacy_pics);
    ASSERT_EQ(madt.processors.size(), 1U);
    EXPECT_EQ(madt.processors[0].apic_id, 0x12AU);
    EXPECT_FALSE(madt.processors[0].enabled);
    EXPECT_EQ(madt.isa_line(7).gsi, 20U);
    EXPECT_EQ(madt.isa_line(7).polarity, Polarity::active_low);
    EXPECT_EQ(madt.isa_line(7).trigger, Trigger::level);
}

TEST(AcpiMadt, ReadsEveryFieldOfAnEntry) {
    Bytes contents = bytes_of({0, 0, 0xE0, 0xFE, 0xFE, 0xFF, 0xFF, 0xFF}); // every flag but the PICs'
    const Bytes entries = bytes_of({0, 8,  7, 0x21, 1, 0,    0,    0,      // processor 21h
                                    0, 8,  8, 0x22, 2, 0,    0,    0,      // can be switched on
                                    9, 16, 0, 0,    0, 1,    0,    0,    1,    0, 0, 0, 9, 0, 0, 0, // x2APIC 100h
                                    1, 12, 3, 0,    0, 0x10, 0xC0, 0xFE, 24,   0, 0, 0,             // lines from 24 on
                                    2, 10, 0, 15,   0, 1,    0,    0,    0x05, 0,                   // high, edge
                                    2, 10, 0, 0,    2, 0,    0,    0,    0x03, 0});                 // low, as the bus
    contents.insert(contents.end(), entries.begin(), entries.end());
    const Bytes table = test::make_table("APIC", contents);
    Madt madt;
    ASSERT_TRUE(parse_madt(as_table(kMadtSignature, table), madt));
    EXPECT_FALSE(madt.has_legacy_pics);
    ASSERT_EQ(madt.processors.size(), 3U);
    EXPECT_EQ(madt.processors[0].apic_id, 0x21U);
    EXPECT_TRUE(madt.processors[0].enabled);
    EXPECT_EQ(madt.processors[1].apic_id, 0x22U);
    EXPECT_FALSE(madt.processors[1].enabled);
    EXPECT_EQ(madt.processors[2].apic_id, 0x100U);
    EXPECT_TRUE(madt.processors[2].enabled);
    ASSERT_EQ(madt.io_apics.size(), 1U);
    EXPECT_EQ(madt.io_apics[0].id, 3);
    EXPECT_EQ(madt.io_apics[0].address, 0xFEC0'1000U);
    EXPECT_EQ(madt.io_apics[0].gsi_base, 24U);
    EXPECT_EQ(madt.isa_line(15).gsi, 256U);
    EXPECT_EQ(madt.isa_line(15).polarity, Polarity::active_high);
    EXPECT_EQ(madt.isa_line(15).trigger, Trigger::edge);
    EXPECT_EQ(madt.isa_line(0).gsi, 2U);
    EXPECT_EQ(madt.isa_line(0).polarity, Polarity::active_low);
    EXPECT_EQ(madt.isa_line(0).trigger, Trigger::edge);
    EXPECT_EQ(madt.processors.lost(), 0U);
}

TEST(AcpiMadt, CountsProcessorsThatDoNotFit) {
    Bytes contents(8);
    for (unsigned id = 0; id < 70; ++id) {
        const Bytes entry = bytes_of({0, 8, id, id, 1, 0, 0, 0});
        contents.insert(contents.end(), entry.begin(), entry.end());
    }
    const Bytes table = test::make_table("APIC", contents);
    Madt madt;
    ASSERT_TRUE(parse_madt(as_table(kMadtSignature, table), madt));
    EXPECT_EQ(madt.processors.size(), 64U);
    EXPECT_EQ(madt.processors.lost(), 6U);
}

TEST(AcpiMadt, DamagedEntriesAreCorrupt) {
    const auto parse = [](std::initializer_list<unsigned> entries) {
        Bytes contents(8);
        const Bytes tail = bytes_of(entries);
        contents.insert(contents.end(), tail.begin(), tail.end());
        const Bytes table = test::make_table("APIC", contents);
        Madt madt;
        return parse_madt(as_table(kMadtSignature, table), madt);
    };
    EXPECT_TRUE(parse({}));
    EXPECT_TRUE(parse({0x7F, 2}));                                           // an unknown entry without contents
    EXPECT_TRUE(parse({2, 10, 0, 15, 1, 0, 0, 0, 0, 0}));                    // the last ISA interrupt
    EXPECT_EQ(parse({0, 0}).error(), lib::Error::corrupt);                   // would never advance
    EXPECT_EQ(parse({0, 1}).error(), lib::Error::corrupt);                   // shorter than its header
    EXPECT_EQ(parse({0, 8, 0, 0}).error(), lib::Error::corrupt);             // past the end
    EXPECT_EQ(parse({0}).error(), lib::Error::corrupt);                      // half a header
    EXPECT_EQ(parse({1, 8, 0, 0, 0, 0, 0, 0}).error(), lib::Error::corrupt); // I/O APIC too short
    EXPECT_EQ(parse({2, 10, 0, 1, 1, 0, 0, 0, 0x02, 0}).error(), lib::Error::corrupt); // reserved polarity
    EXPECT_EQ(parse({2, 10, 0, 1, 1, 0, 0, 0, 0x08, 0}).error(), lib::Error::corrupt); // reserved trigger
    EXPECT_EQ(parse({2, 10, 1, 1, 1, 0, 0, 0, 0, 0}).error(), lib::Error::corrupt);    // not ISA
    EXPECT_EQ(parse({2, 10, 0, 16, 1, 0, 0, 0, 0, 0}).error(), lib::Error::corrupt);   // no such ISA interrupt
}

// --- HPET, NFIT ----------------------------------------------------------------------------------------------------

// In QEMU's NFIT: a range of 56 bytes, then the module that it is mapped to.
constexpr std::ptrdiff_t kRangeBytes = 56;
constexpr std::ptrdiff_t kMappingOffset = 40 + kRangeBytes;
constexpr std::ptrdiff_t kMappingBytes = 48;
constexpr std::ptrdiff_t kFlagsOffset = kMappingOffset + 44;

TEST(AcpiHpet, ReadsQemusTable) {
    const Bytes bytes = from_hex(test::kQemuQ35Hpet);
    const auto hpet = parse_hpet(as_table(kHpetSignature, bytes));
    ASSERT_TRUE(hpet);
    EXPECT_EQ(hpet.value().address, 0xFED0'0000U);
    EXPECT_EQ(hpet.value().number, 0);
    EXPECT_EQ(hpet.value().minimum_tick, 0);
}

TEST(AcpiHpet, ReadsNumberAndLeastPeriod) {
    Bytes bytes = from_hex(test::kQemuQ35Hpet);
    patch(bytes, 52, std::uint8_t{3});
    patch(bytes, 53, std::uint16_t{0x37EE});
    bytes.resize(55); // up to the last field that is read
    const auto hpet = parse_hpet(as_table(kHpetSignature, bytes));
    ASSERT_TRUE(hpet);
    EXPECT_EQ(hpet.value().number, 3);
    EXPECT_EQ(hpet.value().minimum_tick, 0x37EE);
}

TEST(AcpiHpet, RefusesATableThatIsShortEmptyOrInPortSpace) {
    Bytes bytes = from_hex(test::kQemuQ35Hpet);
    bytes[40] = std::byte{1};
    EXPECT_EQ(parse_hpet(as_table(kHpetSignature, bytes)).error(), lib::Error::unsupported);
    bytes[40] = std::byte{0};
    std::memset(&bytes[44], 0, 8);
    EXPECT_EQ(parse_hpet(as_table(kHpetSignature, bytes)).error(), lib::Error::corrupt);
    bytes.resize(54);
    EXPECT_EQ(parse_hpet(as_table(kHpetSignature, bytes)).error(), lib::Error::corrupt);
}

TEST(AcpiNfit, FindsQemusNvdimm) {
    const Bytes bytes = from_hex(test::kQemuNfit);
    const auto nfit = parse_nfit(as_table(kNfitSignature, bytes));
    ASSERT_TRUE(nfit);
    ASSERT_EQ(nfit.value().ranges.size(), 1U);
    EXPECT_EQ(nfit.value().ranges[0].address, 0x1'0000'0000U);
    EXPECT_EQ(nfit.value().ranges[0].size_bytes, 8U << 20);
}

// QEMU sets bit 3 for unarmed=on.
TEST(AcpiNfit, SaysWhichModulesDoNotKeepWhatIsWritten) {
    const auto defect_of = [](unsigned flags) {
        Bytes bytes = from_hex(test::kQemuNfit);
        bytes[kFlagsOffset] = static_cast<std::byte>(flags);
        const auto nfit = parse_nfit(as_table(kNfitSignature, bytes));
        return nfit ? std::string(persistence_defect(nfit.value().ranges[0])) : "corrupt";
    };
    EXPECT_EQ(defect_of(0), "");
    EXPECT_EQ(defect_of(1U << 3), "is not armed");
    EXPECT_EQ(defect_of(1U << 0), "failed to save its contents");
    EXPECT_EQ(defect_of(1U << 1), "failed to restore its contents");
    EXPECT_EQ(defect_of(1U << 2), "failed to flush its contents");
    EXPECT_EQ(defect_of(1U << 6), "is not mapped");
    EXPECT_EQ(defect_of(0x30), "") << "health events";
}

TEST(AcpiNfit, AModuleBeforeItsRangeCountsAndThatOfAnotherRangeDoesNot) {
    const Bytes table = from_hex(test::kQemuNfit);
    const auto part = [&table](std::size_t begin, std::size_t end) {
        return std::span(table).subspan(begin, end - begin);
    };
    Bytes bytes(table.begin(), table.begin() + kMappingOffset - kRangeBytes);
    std::ranges::copy(part(kMappingOffset, kMappingOffset + kMappingBytes), std::back_inserter(bytes));
    std::ranges::copy(part(kMappingOffset - kRangeBytes, kMappingOffset), std::back_inserter(bytes));
    bytes[kFlagsOffset - kRangeBytes] = std::byte{8};
    const auto first = parse_nfit(as_table(kNfitSignature, bytes));
    ASSERT_TRUE(first);
    EXPECT_EQ(persistence_defect(first.value().ranges[0]), "is not armed");
    bytes[kMappingOffset - kRangeBytes + 12] ^= std::byte{1}; // the index
    const auto other = parse_nfit(as_table(kNfitSignature, bytes));
    ASSERT_TRUE(other);
    EXPECT_EQ(persistence_defect(other.value().ranges[0]), "");
}

TEST(AcpiNfit, PassesOverRangesOfAnotherKind) {
    Bytes bytes = from_hex(test::kQemuNfit);
    bytes[0x38] ^= std::byte{1}; // the GUID's first byte
    const auto nfit = parse_nfit(as_table(kNfitSignature, bytes));
    ASSERT_TRUE(nfit);
    EXPECT_EQ(nfit.value().ranges.size(), 0U);
}

TEST(AcpiNfit, DamagedStructuresAreCorrupt) {
    const Bytes good = from_hex(test::kQemuNfit);
    const auto parse_with = [&good](std::size_t offset, std::initializer_list<unsigned> values) {
        Bytes bytes = good;
        const Bytes patch = bytes_of(values);
        std::ranges::copy(patch, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        return parse_nfit(as_table(kNfitSignature, bytes));
    };
    EXPECT_TRUE(parse_with(0, {}));
    EXPECT_EQ(parse_with(0x2A, {0, 0}).error(), lib::Error::corrupt);          // length 0: would never advance
    EXPECT_EQ(parse_with(0x2A, {3, 0}).error(), lib::Error::corrupt);          // shorter than its header
    EXPECT_EQ(parse_with(0x2A, {55, 0}).error(), lib::Error::corrupt);         // a range that is too short
    EXPECT_EQ(parse_with(0x2A, {0xFF, 0xFF}).error(), lib::Error::corrupt);    // past the end
    EXPECT_EQ(parse_with(0x50, {0, 0, 0, 0}).error(), lib::Error::corrupt);    // empty range
    EXPECT_TRUE(parse_with(0x48, {0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F})); // far up, but it does not wrap
    EXPECT_EQ(parse_with(0x48, {0, 0, 0xC0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}).error(), lib::Error::corrupt); // wraps
    Bytes longer = good;
    longer.push_back({}); // half a header
    EXPECT_EQ(parse_nfit(as_table(kNfitSignature, longer)).error(), lib::Error::corrupt);
    Bytes cut = good;
    cut.resize(223);
    EXPECT_EQ(parse_nfit(as_table(kNfitSignature, cut)).error(), lib::Error::corrupt);
}

// A valid checksum does not protect against a table that was built wrongly: the parsers alone must handle any contents.
TEST(AcpiParsers, NoMutatedTableMakesAParserReadOutsideOrRunForever) {
    std::mt19937 random(20240607); // NOLINT: reproducible on purpose
    const std::vector<Bytes> originals{from_hex(test::kQemuQ35Fadt), from_hex(test::kQemuQ35Madt),
                                       from_hex(test::kQemuQ35Hpet), from_hex(test::kQemuNfit),
                                       from_hex(test::kQemuSoftOff)};
    std::size_t accepted = 0;
    constexpr int kRounds = 50'000;
    for (int round = 0; round < kRounds; ++round) {
        const std::size_t which = random() % originals.size();
        Bytes bytes = originals[which];
        const std::size_t least = which == 4 ? 0 : kTableHeaderBytes;
        bytes.resize(least + random() % (bytes.size() - least + 1));
        bytes.shrink_to_fit();
        for (auto change = random() % 5; change > 0 && bytes.size() > least; --change) {
            bytes[least + random() % (bytes.size() - least)] = static_cast<std::byte>(random());
        }
        Madt madt;
        switch (which) {
        case 0:
            accepted += parse_fadt(as_table(kFadtSignature, bytes)).ok() ? 1U : 0U;
            break;
        case 1:
            accepted += parse_madt(as_table(kMadtSignature, bytes), madt).ok() ? 1U : 0U;
            break;
        case 2:
            accepted += parse_hpet(as_table(kHpetSignature, bytes)).ok() ? 1U : 0U;
            break;
        case 3:
            accepted += parse_nfit(as_table(kNfitSignature, bytes)).ok() ? 1U : 0U;
            break;
        default:
            accepted += parse_soft_off(bytes).ok() ? 1U : 0U;
            break;
        }
    }
    EXPECT_GT(accepted, 0U);
    EXPECT_LT(accepted, static_cast<std::size_t>(kRounds));
}

} // namespace contents_test
} // namespace drivers::acpi
