// SPDX-License-Identifier: MIT
// Tests the table of clusters alone, on a small disk on which every entry is placed by hand: values, counts, the order
// of allocation, and what is written when.
#include "drivers/fat/allocation_table.hpp"
#include "lib/endian.hpp"
#include "tests/support/fake_disk.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace drivers::fat {
namespace allocation_table_test {

using test::FakeDisk;

constexpr std::uint64_t kVolumeStart = 3;
constexpr std::uint32_t kClusters = 300; // 2..301, in two sectors of FAT16, three of FAT32
constexpr std::uint32_t kFatSectors = 3;

constexpr Geometry geometry_of(FatType type) {
    return {.type = type,
            .media = 0xF8,
            .fat_count = 2,
            .sectors_per_cluster = 1,
            .total_sectors = 400,
            .first_fat = 1,
            .fat_sectors = kFatSectors,
            .first_root = 7,
            .root_sectors = 0,
            .first_data = 7,
            .cluster_count = kClusters,
            .root_cluster = 2};
}

class FatTable : public testing::TestWithParam<FatType> {
  protected:
    FatTable() { m_table.attach(m_disk, kVolumeStart, geometry_of(GetParam())); }

    void put(Cluster cluster, std::uint32_t value) {
        const std::size_t table = (kVolumeStart + 1) * kSectorBytes;
        if (GetParam() == FatType::fat16) {
            lib::store_le(std::span(m_disk.image()).subspan(table + cluster * 2), static_cast<std::uint16_t>(value));
        } else {
            lib::store_le(std::span(m_disk.image()).subspan(table + cluster * 4), value);
        }
        m_table.discard();
    }

    Cluster read(Cluster cluster, std::uint32_t value) {
        put(cluster, value);
        return m_table.get(cluster).value();
    }

    std::vector<std::uint64_t> written() {
        std::vector<std::uint64_t> sectors;
        for (const auto& write : m_disk.journal()) {
            sectors.push_back(write.sector);
        }
        m_disk.record_journal();
        return sectors;
    }

    FakeDisk m_disk{400};
    AllocationTable m_table;
};

INSTANTIATE_TEST_SUITE_P(Types, FatTable, testing::Values(FatType::fat16, FatType::fat32));

TEST_P(FatTable, HasTheValueOfEachEntry) {
    const std::uint32_t all = GetParam() == FatType::fat16 ? 0xFFFF : 0x0FFF'FFFF;
    for (const Cluster cluster : {2U, 127U, 128U, 255U, 256U, 301U}) {
        EXPECT_EQ(read(cluster, 0), kFree) << cluster;
        EXPECT_EQ(read(cluster, 1), 1U);
        EXPECT_EQ(read(cluster, 301), 301U);
        EXPECT_EQ(read(cluster, all - 8), all - 8) << "bad";
        EXPECT_EQ(read(cluster, all - 7), kEndOfChain);
        EXPECT_EQ(read(cluster, all), kEndOfChain);
        put(cluster, 0);
    }
}

TEST_P(FatTable, WritesEachChangedSectorToBothCopies) {
    m_disk.record_journal();
    const std::uint32_t in_sector = GetParam() == FatType::fat16 ? 256 : 128;
    ASSERT_TRUE(m_table.set(5, 6));
    ASSERT_TRUE(m_table.set(6, kEndOfChain));
    EXPECT_TRUE(written().empty());
    ASSERT_TRUE(m_table.set(in_sector, kEndOfChain)); // the next sector
    EXPECT_EQ(written(), (std::vector<std::uint64_t>{4, 4 + kFatSectors}));
    ASSERT_TRUE(m_table.flush());
    EXPECT_EQ(written(), (std::vector<std::uint64_t>{5, 5 + kFatSectors}));
    ASSERT_TRUE(m_table.flush());
    EXPECT_EQ(m_table.get(5).value(), 6U);
    EXPECT_EQ(m_table.get(6).value(), kEndOfChain);
    EXPECT_EQ(m_table.get(in_sector).value(), kEndOfChain);
    EXPECT_TRUE(written().empty());
    const auto first = m_disk.image().begin() + static_cast<std::ptrdiff_t>((kVolumeStart + 1) * kSectorBytes);
    const auto bytes = static_cast<std::ptrdiff_t>(kFatSectors * kSectorBytes);
    EXPECT_TRUE(std::equal(first, first + bytes, first + bytes));
}

TEST_P(FatTable, CountsFreeClustersOnceAndThenEveryChange) {
    put(2, 1);
    put(301, 1);
    EXPECT_EQ(m_table.free_count().value(), kClusters - 2);
    ASSERT_TRUE(m_table.set(7, kEndOfChain));
    EXPECT_EQ(m_table.free_count().value(), kClusters - 3);
    ASSERT_TRUE(m_table.set(7, 8)); // still in use
    EXPECT_EQ(m_table.free_count().value(), kClusters - 3);
    ASSERT_TRUE(m_table.set(9, kFree)); // free before
    EXPECT_EQ(m_table.free_count().value(), kClusters - 3);
    ASSERT_TRUE(m_table.set(7, kFree));
    EXPECT_EQ(m_table.free_count().value(), kClusters - 2);
    ASSERT_TRUE(m_table.set(7, kEndOfChain));
    m_table.discard();
    EXPECT_EQ(m_table.free_count().value(), kClusters - 2) << "counted again";
    EXPECT_EQ(m_table.get(7).value(), kFree);
}

TEST_P(FatTable, AllocatesUpwardsAroundTheEnd) {
    EXPECT_EQ(m_table.next_candidate(), 2U);
    EXPECT_EQ(m_table.allocate(1).value().first, 2U);
    put(3, 1);
    m_table.discard(); // also forgets that 2 was taken, but not the place
    EXPECT_EQ(m_table.next_candidate(), 3U);
    for (Cluster expected = 4; expected <= 301; ++expected) {
        ASSERT_EQ(m_table.allocate(1).value().first, expected);
        ASSERT_EQ(m_table.get(expected).value(), kEndOfChain);
    }
    EXPECT_EQ(m_table.next_candidate(), 2U);
    EXPECT_EQ(m_table.allocate(1).value().first, 2U);
    EXPECT_EQ(m_table.allocate(1).error(), lib::Error::no_space);
    ASSERT_TRUE(m_table.set(2, kFree)); // the last place that the search reaches
    EXPECT_EQ(m_table.allocate(1).value().first, 2U);
}

TEST_P(FatTable, TakesARunUpToAClusterInUseTheSectorOfTheTableOrTheEnd) {
    const Cluster in_sector = GetParam() == FatType::fat16 ? 256 : 128;
    put(7, 1);
    const auto expect_run = [this](std::uint32_t wanted, Cluster first, std::uint32_t count) {
        const std::uint32_t free = m_table.free_count().value();
        const auto run = m_table.allocate(wanted).value();
        EXPECT_EQ(run.first, first);
        EXPECT_EQ(run.count, count);
        for (Cluster cluster = run.first; cluster < run.last(); ++cluster) {
            ASSERT_EQ(m_table.get(cluster).value(), cluster + 1);
        }
        EXPECT_EQ(m_table.get(run.last()).value(), kEndOfChain);
        EXPECT_EQ(m_table.free_count().value(), free - count);
    };
    expect_run(3, 2, 3);
    expect_run(3, 5, 2); // 7 is in use
    EXPECT_EQ(m_table.get(7).value(), 1U);
    m_disk.record_journal();
    expect_run(1'000, 8, in_sector - 8);
    EXPECT_TRUE(written().empty()) << "nothing beyond the sector in memory";
    while (m_table.next_candidate() != kFirstCluster) {
        ASSERT_GE(m_table.allocate(100).value().last(), in_sector);
    }
    EXPECT_EQ(m_table.free_count().value(), 0U);
    EXPECT_EQ(m_table.get(301).value(), kEndOfChain);
}

// Another user of the medium may free clusters after they were counted.
TEST_P(FatTable, TakesNoMoreThanWasCounted) {
    for (Cluster cluster = 5; cluster <= 301; ++cluster) {
        put(cluster, 1);
    }
    ASSERT_EQ(m_table.free_count().value(), 3U);
    const std::size_t at = (kVolumeStart + 1) * kSectorBytes;
    std::ranges::fill(std::span(m_disk.image()).subspan(at + 8, kSectorBytes - 8), std::byte{0});
    EXPECT_EQ(m_table.allocate(10).value().count, 3U);
    EXPECT_EQ(m_table.free_count().value(), 0U);
}

TEST_P(FatTable, HasTheMediaByteInItsFirstEntry) {
    put(0, 0xFFF8);
    EXPECT_EQ(m_table.media().value(), 0xF8);
    m_disk.fail_read(0, FakeDisk::Failure::once);
    m_table.discard();
    EXPECT_EQ(m_table.media().error(), lib::Error::io);
}

TEST_P(FatTable, AFailureIsReportedAndWhatWasChangedIsWrittenLater) {
    ASSERT_TRUE(m_table.set(5, 6));
    m_disk.record_journal();
    m_disk.fail_write(1, FakeDisk::Failure::once); // the second copy
    EXPECT_EQ(m_table.get(301).error(), lib::Error::io);
    EXPECT_EQ(written(), (std::vector<std::uint64_t>{4}));
    EXPECT_EQ(m_table.get(5).value(), 6U);
    ASSERT_TRUE(m_table.flush());
    EXPECT_EQ(written(), (std::vector<std::uint64_t>{4, 4 + kFatSectors})) << "all copies again";
    m_disk.fail_read(0, FakeDisk::Failure::once);
    EXPECT_EQ(m_table.set(301, kEndOfChain).error(), lib::Error::io);
    EXPECT_EQ(m_table.get(301).value(), kFree);
    m_table.discard();
    m_disk.fail_read(0, FakeDisk::Failure::once);
    EXPECT_EQ(m_table.free_count().error(), lib::Error::io);
    m_disk.fail_read(0, FakeDisk::Failure::once);
    EXPECT_EQ(m_table.allocate(1).error(), lib::Error::io);
}

// The reserved upper bits of a 32-bit entry are no part of its value.
TEST(FatTable32, IgnoresTheUpperBitsOfAnEntryAndKeepsThem) {
    FakeDisk disk(400);
    AllocationTable table;
    table.attach(disk, kVolumeStart, geometry_of(FatType::fat32));
    const std::size_t at = (kVolumeStart + 1) * kSectorBytes + 5 * 4;
    lib::store_le(std::span(disk.image()).subspan(at), std::uint32_t{0xA000'0000});
    EXPECT_EQ(table.get(5).value(), kFree);
    EXPECT_EQ(table.free_count().value(), kClusters);
    ASSERT_TRUE(table.set(5, 7));
    ASSERT_TRUE(table.flush());
    EXPECT_EQ(lib::load_le<std::uint32_t>(std::span(disk.image()).subspan(at)), 0xA000'0007U);
    ASSERT_TRUE(table.set(5, kEndOfChain));
    EXPECT_EQ(table.get(5).value(), kEndOfChain);
    ASSERT_TRUE(table.flush());
    EXPECT_EQ(lib::load_le<std::uint32_t>(std::span(disk.image()).subspan(at)), 0xAFFF'FFFFU);
}

TEST(FatTable32, KeepsTheUpperBitsOfARunThatIsTaken) {
    FakeDisk disk(400);
    AllocationTable table;
    table.attach(disk, kVolumeStart, geometry_of(FatType::fat32));
    const auto entry = [&disk](Cluster cluster) {
        return std::span(disk.image()).subspan((kVolumeStart + 1) * kSectorBytes + std::size_t{cluster} * 4);
    };
    for (Cluster cluster = 2; cluster < 6; ++cluster) {
        lib::store_le(entry(cluster), cluster << 28);
    }
    const auto run = table.allocate(4);
    ASSERT_TRUE(run);
    EXPECT_EQ(run.value().count, 4U);
    ASSERT_TRUE(table.flush());
    EXPECT_EQ(lib::load_le<std::uint32_t>(entry(2)), 0x2000'0003U);
    EXPECT_EQ(lib::load_le<std::uint32_t>(entry(3)), 0x3000'0004U);
    EXPECT_EQ(lib::load_le<std::uint32_t>(entry(4)), 0x4000'0005U);
    EXPECT_EQ(lib::load_le<std::uint32_t>(entry(5)), 0x5FFF'FFFFU);
}

} // namespace allocation_table_test
} // namespace drivers::fat
