// SPDX-License-Identifier: MIT
// Tests the path to the ACPI tables, and \_S5_ in their byte code: a machine like QEMU's, and damaged machines.
#include "drivers/acpi/contents.hpp"
#include "drivers/acpi/tables.hpp"
#include "tests/support/fake_physical_memory.hpp"
#include "tests/support/qemu_acpi_tables.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace drivers::acpi {
namespace tables_test {

using test::from_hex;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kRsdp = 0xF59E0;
constexpr std::uint64_t kRoot = 0x3FE1E71; // unaligned, as SeaBIOS has it
constexpr std::uint64_t kDsdt = 0x3FDF040; // where QEMU's FADT points

Bytes bytes_of(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const unsigned value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

template <typename T>
void append_number(Bytes& bytes, T value) {
    const auto* const first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
}

Bytes make_rsdp(std::uint8_t revision, std::uint32_t rsdt, std::uint64_t xsdt) {
    Bytes bytes(36);
    std::memcpy(bytes.data(), "RSD PTR ", 8);
    bytes[15] = std::byte{revision};
    std::memcpy(&bytes[16], &rsdt, 4);
    const std::uint32_t length = 36;
    std::memcpy(&bytes[20], &length, 4);
    std::memcpy(&bytes[24], &xsdt, 8);
    test::fix_checksum(bytes, 8, 20);
    test::fix_checksum(bytes, 32, 36);
    bytes.resize(revision >= 2 ? 36 : 20);
    return bytes;
}

const Bytes kQemuSoftOff = from_hex(test::kQemuSoftOff);

// A machine like QEMU's q35: revision 0 root pointer, RSDT.
class Machine {
  public:
    Machine() {
        memory.put(kDsdt, test::make_table("DSDT", kQemuSoftOff));
        const std::vector<Bytes> tables{from_hex(test::kQemuQ35Fadt), from_hex(test::kQemuQ35Madt),
                                        from_hex(test::kQemuQ35Hpet), from_hex(test::kQemuNfit)};
        Bytes entries;
        std::uint64_t address = 0x3FE0000;
        for (const Bytes& table : tables) {
            memory.put(address, table);
            append_number(entries, static_cast<std::uint32_t>(address));
            addresses.push_back(address);
            address += 0x1000;
        }
        memory.put(kRoot + 0x100000, test::make_table("RSDT", entries));
        memory.put(kRsdp, make_rsdp(0, static_cast<std::uint32_t>(kRoot + 0x100000), 0));
    }

    Tables open() {
        const auto tables = Tables::open(memory, kRsdp);
        EXPECT_TRUE(tables.ok());
        return tables.ok() ? tables.value() : Tables{};
    }

    test::FakePhysicalMemory memory;
    std::vector<std::uint64_t> addresses; // FADT, MADT, HPET, NFIT
};

// --- root pointer and tables ---------------------------------------------------------------------------------------

TEST(AcpiTables, FindsATableThroughTheRsdt) {
    Machine machine;
    const Tables tables = machine.open();
    EXPECT_EQ(tables.entry_count(), 4U);
    const auto nfit = tables.find("NFIT");
    ASSERT_TRUE(nfit);
    EXPECT_EQ(nfit.value().bytes.size(), 224U);
    EXPECT_EQ(tables.find("SSDT").error(), lib::Error::not_found);
    EXPECT_EQ(tables.find("NFIT", 1).error(), lib::Error::not_found);
}

TEST(AcpiTables, PrefersTheXsdtAndReachesAbove4GiB) {
    test::FakePhysicalMemory memory;
    const std::uint64_t high = 0x1'2345'6000;
    memory.put(high, from_hex(test::kQemuQ35Hpet));
    Bytes entries;
    append_number(entries, std::uint64_t{0}); // some firmware leaves empty entries
    append_number(entries, high);
    memory.put(0x5000, test::make_table("XSDT", entries));
    memory.put(kRsdp, make_rsdp(2, 0xDEAD'0000, 0x5000));
    const auto tables = Tables::open(memory, kRsdp);
    ASSERT_TRUE(tables);
    EXPECT_TRUE(tables.value().find("HPET"));
}

TEST(AcpiTables, FallsBackToTheRsdtWhenARevision2PointerHasNoXsdt) {
    test::FakePhysicalMemory memory;
    memory.put(0x5000, test::make_table("RSDT", {}));
    memory.put(kRsdp, make_rsdp(2, 0x5000, 0));
    EXPECT_TRUE(Tables::open(memory, kRsdp));
    memory.put(kRsdp, make_rsdp(2, 0, 0));
    EXPECT_EQ(Tables::open(memory, kRsdp).error(), lib::Error::not_found);
}

TEST(AcpiTables, NoPointerMeansNotFound) {
    test::FakePhysicalMemory memory;
    EXPECT_EQ(Tables::open(memory, 0).error(), lib::Error::not_found);
    EXPECT_EQ(Tables::open(memory, 0x1000).error(), lib::Error::not_found);
}

TEST(AcpiTables, EveryDamagedByteOfTheRootPointerIsNoticed) {
    for (std::size_t i = 0; i < 36; ++i) {
        test::FakePhysicalMemory memory;
        memory.put(0x5000, test::make_table("XSDT", {}));
        Bytes rsdp = make_rsdp(2, 0, 0x5000);
        rsdp[i] ^= std::byte{0x10};
        memory.put(kRsdp, rsdp);
        EXPECT_EQ(Tables::open(memory, kRsdp).error(), lib::Error::corrupt) << "byte " << i;
    }
}

TEST(AcpiTables, ARevision2PointerShorterThanItsFieldsIsCorrupt) {
    test::FakePhysicalMemory memory;
    memory.put(0x5000, test::make_table("XSDT", {}));
    for (const std::uint32_t length : {0U, 20U, 35U, 0x1000'0000U}) {
        Bytes rsdp = make_rsdp(2, 0, 0x5000);
        std::memcpy(&rsdp[20], &length, 4);
        test::fix_checksum(rsdp, 32, 36);
        memory.put(kRsdp, rsdp);
        EXPECT_EQ(Tables::open(memory, kRsdp).error(), lib::Error::corrupt) << length;
    }
}

TEST(AcpiTables, ARootPointerMayBeLongerThanItsFieldsUpTo4KiB) {
    for (const std::size_t size : {36U, 37U, 4096U, 4097U}) {
        test::FakePhysicalMemory memory;
        memory.put(0x5000, test::make_table("XSDT", {}));
        Bytes rsdp = make_rsdp(2, 0, 0x5000);
        rsdp.resize(size, std::byte{0x11});
        const auto length = static_cast<std::uint32_t>(size);
        std::memcpy(&rsdp[20], &length, 4);
        test::fix_checksum(rsdp, 32, size);
        memory.put(kRsdp, rsdp);
        EXPECT_EQ(Tables::open(memory, kRsdp).ok(), size <= 4096) << size;
        rsdp.back() ^= std::byte{1}; // the checksum covers all of it
        memory.put(kRsdp, rsdp);
        EXPECT_EQ(Tables::open(memory, kRsdp).error(), lib::Error::corrupt) << size;
    }
}

TEST(AcpiTables, ATableSaysItsRevisionAndMayBeNoLongerThanItsHeader) {
    test::FakePhysicalMemory memory;
    Bytes table = test::make_table("TEST", {});
    table[8] = std::byte{5};
    test::fix_checksum(table, 9, table.size());
    memory.put(0x6000, table);
    const auto found = read_table(memory, 0x6000, "TEST");
    ASSERT_TRUE(found);
    EXPECT_EQ(found.value().revision, 5);
    EXPECT_EQ(found.value().signature, Signature("TEST"));
    EXPECT_EQ(found.value().bytes.size(), kTableHeaderBytes);
    EXPECT_EQ(read_table(memory, 0x6000, "TESS").error(), lib::Error::corrupt);
}

TEST(AcpiTables, SeveralTablesOfOneNameAreCountedInTheirOrder) {
    test::FakePhysicalMemory memory;
    Bytes entries;
    for (std::uint32_t i = 0; i < 4; ++i) {
        memory.put(0x6000 + i * 0x1000, test::make_table(i == 1 ? "OTHR" : "SSDT", Bytes(8 + i)));
        append_number(entries, 0x6000 + i * 0x1000);
    }
    memory.put(0x5000, test::make_table("RSDT", entries));
    memory.put(kRsdp, make_rsdp(0, 0x5000, 0));
    const auto tables = Tables::open(memory, kRsdp);
    ASSERT_TRUE(tables);
    for (const std::size_t index : {0U, 1U, 2U}) {
        const std::size_t place = index == 0 ? 0 : index + 1;
        EXPECT_EQ(tables.value().find("SSDT", index).value().bytes.size(), kTableHeaderBytes + 8 + place);
    }
    EXPECT_EQ(tables.value().find("SSDT", 3).error(), lib::Error::not_found);
    EXPECT_EQ(tables.value().at(0x7000, "OTHR").value().bytes.size(), kTableHeaderBytes + 9);
    EXPECT_EQ(tables.value().at(0x7000, "SSDT").error(), lib::Error::corrupt);
    EXPECT_EQ(tables.value().at(0, "SSDT").error(), lib::Error::not_found);
    EXPECT_EQ(Tables{}.at(0x7000, "OTHR").error(), lib::Error::not_found);
}

TEST(AcpiTables, ARootTableWithHalfAnEntryIsCorrupt) {
    test::FakePhysicalMemory memory;
    memory.put(0x5000, test::make_table("XSDT", Bytes(12)));
    memory.put(kRsdp, make_rsdp(2, 0, 0x5000));
    EXPECT_EQ(Tables::open(memory, kRsdp).error(), lib::Error::corrupt);
}

TEST(AcpiTables, ADamagedTableIsCorruptButDisturbsNoOther) {
    Machine machine;
    machine.memory.at(machine.addresses[1])[50] ^= std::byte{1};
    const Tables tables = machine.open();
    EXPECT_EQ(tables.find("APIC").error(), lib::Error::corrupt);
    EXPECT_TRUE(tables.find("NFIT"));
}

TEST(AcpiTables, ATableLengthOutsideItsBoundsIsCorrupt) {
    const std::uint32_t past_memory = 57; // the table and its memory have 56 bytes
    for (const std::uint32_t length : {0U, 35U, past_memory, 0xFFFF'FFFFU}) {
        Machine machine;
        std::memcpy(&machine.memory.at(machine.addresses[2])[4], &length, 4);
        EXPECT_EQ(machine.open().find("HPET").error(), lib::Error::corrupt) << length;
    }
}

// --- \_S5_ ---------------------------------------------------------------------------------------------------------

TEST(AcpiSoftOff, FindsQemusPackageThroughTheTables) {
    Machine machine;
    const auto sleep = find_soft_off(machine.open(), kDsdt);
    ASSERT_TRUE(sleep);
    EXPECT_EQ(sleep.value().pm1a, 0);
    EXPECT_EQ(sleep.value().pm1b, 0);
}

TEST(AcpiSoftOff, UnderstandsEveryEncodingOfTheNumbers) {
    const auto parse = [](std::initializer_list<unsigned> package) {
        Bytes aml = bytes_of({0x08, 0x5F, 0x53, 0x35, 0x5F});
        const Bytes tail = bytes_of(package);
        aml.insert(aml.end(), tail.begin(), tail.end());
        const auto sleep = parse_soft_off(aml);
        return sleep.ok() ? sleep.value().pm1a * 16 + sleep.value().pm1b : -1;
    };
    EXPECT_EQ(parse({0x12, 0x06, 0x02, 0x0A, 0x05, 0x0A, 0x07}), 0x57);       // byte prefixes
    EXPECT_EQ(parse({0x12, 0x04, 0x02, 0x01, 0x00}), 0x10);                   // OneOp, ZeroOp
    EXPECT_EQ(parse({0x12, 0x06, 0x02, 0x0B, 0x05, 0x00, 0x01}), 0x51);       // word
    EXPECT_EQ(parse({0x12, 0x05, 0x01, 0x0B, 0x05, 0x06}), 0x56);             // both in one integer
    EXPECT_EQ(parse({0x12, 0x07, 0x01, 0x0C, 0x05, 0x06, 0x00, 0x00}), 0x56); // the same as a double word
    EXPECT_EQ(parse({0x12, 0x06, 0x02, 0x0A, 0x05, 0x0A, 0x08}), -1);         // the second has four bits
    EXPECT_EQ(parse({0x12, 0x47, 0x00, 0x02, 0x0A, 0x05, 0x0A, 0x07}), 0x57); // two-byte package length
    EXPECT_EQ(parse({0x12, 0x06, 0x02, 0x0A, 0x08, 0x0A, 0x07}), -1);         // 8 has four bits
    EXPECT_EQ(parse({0x12, 0x04, 0x02, 0xFF, 0x00}), -1);                     // OnesOp
    EXPECT_EQ(parse({0x12, 0x02, 0x00}), -1);                                 // empty package
    EXPECT_EQ(parse({0x12, 0x03, 0x02, 0x01}), -1);                           // second element missing
    EXPECT_EQ(parse({0x12, 0x20, 0x02, 0x00, 0x00}), -1);                     // longer than the table
    EXPECT_EQ(parse({0x12, 0x00, 0x02, 0x00, 0x00}), -1);                     // shorter than its own length byte
    EXPECT_EQ(parse({0x14, 0x06, 0x02, 0x00, 0x00}), -1);                     // a method
    EXPECT_EQ(parse({0x12}), -1);
}

// The low four bits are in the first byte, then come up to three bytes more.
TEST(AcpiSoftOff, UnderstandsEveryPackageLength) {
    for (const auto& [lead, bytes] :
         {std::pair{bytes_of({0x46, 0x01}), 0x16U}, std::pair{bytes_of({0x87, 0x23, 0x01}), 0x1237U},
          std::pair{bytes_of({0xC8, 0x45, 0x23, 0x01}), 0x12'3458U}}) {
        Bytes aml = bytes_of({0x08, 0x5F, 0x53, 0x35, 0x5F, 0x12});
        aml.insert(aml.end(), lead.begin(), lead.end());
        const Bytes elements = bytes_of({0x02, 0x0A, 0x05, 0x0A, 0x07});
        aml.insert(aml.end(), elements.begin(), elements.end());
        aml.resize(6 + bytes); // the length counts from its own first byte
        const auto sleep = parse_soft_off(aml);
        ASSERT_TRUE(sleep) << bytes;
        EXPECT_EQ(sleep.value().pm1a * 16 + sleep.value().pm1b, 0x57) << bytes;
        aml.pop_back();
        EXPECT_EQ(parse_soft_off(aml).error(), lib::Error::corrupt) << bytes;
    }
}

TEST(AcpiSoftOff, FindsARootedNameAndPassesOverOneThatOnlyLooksLikeIt) {
    const auto rooted = parse_soft_off(bytes_of({0x08, 0x5C, 0x5F, 0x53, 0x35, 0x5F, 0x12, 0x04, 0x02, 0x01, 0x00}));
    ASSERT_TRUE(rooted);
    EXPECT_EQ(rooted.value().pm1a, 1);
    // A string that holds the name, then the definition.
    const auto second = parse_soft_off(bytes_of(
        {0x0D, 0x08, 0x5F, 0x53, 0x35, 0x5F, 0x00, 0x08, 0x5F, 0x53, 0x35, 0x5F, 0x12, 0x04, 0x02, 0x01, 0x00}));
    EXPECT_TRUE(second);
    EXPECT_EQ(parse_soft_off(bytes_of({0x5F, 0x53, 0x35, 0x5F, 0x12, 0x04, 0x02, 0x01, 0x00})).error(),
              lib::Error::not_found);
    EXPECT_EQ(parse_soft_off(bytes_of({0x5C, 0x5F, 0x53, 0x35, 0x5F, 0x12, 0x04, 0x02, 0x01, 0x00})).error(),
              lib::Error::not_found);
    for (const unsigned before : {0x00U, 0x08U}) { // NameOp and backslash, only one of the two
        const unsigned last = before == 0 ? 0x5C : 0x41;
        EXPECT_EQ(
            parse_soft_off(bytes_of({before, last, 0x5F, 0x53, 0x35, 0x5F, 0x12, 0x04, 0x02, 0x01, 0x00})).error(),
            lib::Error::not_found)
            << before;
    }
    EXPECT_EQ(parse_soft_off(bytes_of({0x08, 0x5F, 0x53, 0x35, 0x5F})).error(), lib::Error::corrupt); // then the end
    EXPECT_EQ(parse_soft_off({}).error(), lib::Error::not_found);
}

TEST(AcpiSoftOff, LooksIntoTheSsdtsWhenTheDsdtDefinesNothing) {
    test::FakePhysicalMemory memory;
    memory.put(kDsdt, test::make_table("DSDT", Bytes(8)));
    memory.put(0x6000, test::make_table("SSDT", Bytes(8)));
    memory.put(0x7000, test::make_table("SSDT", kQemuSoftOff));
    Bytes entries;
    append_number(entries, std::uint32_t{0x6000});
    append_number(entries, std::uint32_t{0x7000});
    memory.put(0x5000, test::make_table("RSDT", entries));
    memory.put(kRsdp, make_rsdp(0, 0x5000, 0));
    const auto tables = Tables::open(memory, kRsdp);
    ASSERT_TRUE(tables);
    EXPECT_TRUE(find_soft_off(tables.value(), kDsdt));
    memory.put(0x7000, test::make_table("SSDT", Bytes(8)));
    EXPECT_EQ(find_soft_off(tables.value(), kDsdt).error(), lib::Error::not_found);
}

TEST(AcpiSoftOff, LooksIntoNoMoreThan64Ssdts) {
    for (const std::uint32_t before : {63U, 64U}) {
        test::FakePhysicalMemory memory;
        memory.put(kDsdt, test::make_table("DSDT", Bytes(8)));
        Bytes entries;
        for (std::uint32_t i = 0; i <= before; ++i) {
            memory.put(0x10'0000 + i * 0x1000, test::make_table("SSDT", i == before ? kQemuSoftOff : Bytes(8)));
            append_number(entries, 0x10'0000 + i * 0x1000);
        }
        memory.put(0x5000, test::make_table("RSDT", entries));
        memory.put(kRsdp, make_rsdp(0, 0x5000, 0));
        const auto tables = Tables::open(memory, kRsdp);
        ASSERT_TRUE(tables);
        EXPECT_EQ(find_soft_off(tables.value(), kDsdt).ok(), before == 63) << before;
    }
}

} // namespace tables_test
} // namespace drivers::acpi
