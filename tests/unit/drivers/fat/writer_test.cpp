// SPDX-License-Identifier: MIT
// Tests adding files, in memory: names, contents, and full volumes. The images are checked by
// tests/support/fat_checker, which shares no code with the driver.
#include "lib/endian.hpp"
#include "tests/support/fat_volumes.hpp"

#include <sys/mman.h>

namespace drivers::fat {
namespace writer_test {

using namespace test;

// All but about `clusters` clusters are marked bad, which keeps tests of full volumes short.
Bytes nearly_full(const Flavour& flavour, std::uint32_t clusters) {
    FakeDisk disk(formatted(flavour));
    Volume volume;
    EXPECT_TRUE(volume.mount(disk));
    const Geometry& geometry = volume.geometry();
    for (Cluster cluster = 3 + clusters; geometry.holds(cluster); ++cluster) {
        for (std::uint32_t copy = 0; copy < geometry.fat_count; ++copy) {
            const std::size_t table = (geometry.first_fat + copy * geometry.fat_sectors) * kSectorBytes;
            if (geometry.type == FatType::fat16) {
                lib::store_le(std::span(disk.image()).subspan(table + cluster * 2), std::uint16_t{0xFFF7});
            } else {
                lib::store_le(std::span(disk.image()).subspan(table + cluster * 4), std::uint32_t{0x0FFF'FFF7});
            }
        }
    }
    if (geometry.info_sector != 0) {
        EXPECT_TRUE(volume.mark_space_known());
    }
    return disk.image();
}

Bytes read_back(Volume& volume, std::string_view name) {
    const auto file = volume.find(name);
    EXPECT_TRUE(file.ok());
    Bytes bytes(file.ok() ? file.value().size_bytes : 0);
    const auto count = file.ok() ? volume.read(file.value(), 0, bytes) : lib::Result<std::size_t>(std::size_t{0});
    EXPECT_TRUE(count.ok() && count.value() == bytes.size());
    return bytes;
}

class FatWriterTest : public testing::TestWithParam<Flavour> {
  protected:
    FatWriterTest()
        : disk(formatted(GetParam())) {
        EXPECT_TRUE(volume.mount(disk));
    }

    FakeDisk disk;
    Volume volume;
};

INSTANTIATE_TEST_SUITE_P(Types, FatWriterTest, testing::Values(kFat16, kFat16Wide, kFat32));

TEST_P(FatWriterTest, ReturnsWhatWasWrittenWhateverThePieces) {
    const std::size_t cluster = volume.geometry().cluster_bytes();
    const std::size_t sizes[] = {0, 1, 511, 512, 513, cluster - 1, cluster, cluster + 1, 3 * cluster, 70'001};
    const std::size_t pieces[] = {1, 7, 512, 513, 1024, 100'000};
    unsigned number = 0;
    for (const std::size_t size : sizes) {
        for (const std::size_t piece : pieces) {
            if (piece == 1 && size > 1'000) {
                continue;
            }
            const std::string name = std::to_string(number) + ".dat";
            const Bytes bytes = pattern(size, number++);
            ASSERT_TRUE(add_file(volume, name, bytes, piece)) << size << " in pieces of " << piece;
            ASSERT_EQ(read_back(volume, name), bytes);
        }
    }
    const FatReport report = check_fat(disk.image());
    expect_clean(report);
    EXPECT_EQ(report.files.size(), number);
    EXPECT_EQ(report.free_clusters * cluster, volume.free_bytes().value());
}

TEST_P(FatWriterTest, ReadsFromAnyOffset) {
    const Bytes bytes = pattern(5'000, 1);
    ASSERT_TRUE(add_file(volume, "a", bytes));
    const FileInfo file = volume.find("A").value();
    for (const std::uint32_t offset : {0U, 1U, 511U, 512U, 1023U, 1024U, 4'999U}) {
        Bytes out(600);
        const auto count = volume.read(file, offset, out);
        ASSERT_TRUE(count);
        ASSERT_EQ(count.value(), std::min<std::size_t>(600, bytes.size() - offset));
        out.resize(count.value());
        EXPECT_TRUE(std::ranges::equal(out, std::span(bytes).subspan(offset, out.size()))) << offset;
    }
    Bytes out(1);
    EXPECT_EQ(volume.read(file, 5'000, out).value(), 0U);
}

TEST_P(FatWriterTest, RefusesANameOrADateThatCannotBe) {
    const Bytes before = disk.image();
    FileWriter writer(volume);
    EXPECT_EQ(writer.create({.name = "two words"}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(writer.create({.name = "a", .modified = {.month = 0}}).error(), lib::Error::invalid_argument);
    EXPECT_FALSE(writer.is_open());
    EXPECT_EQ(disk.image(), before);
}

TEST_P(FatWriterTest, NeverOverwritesAFile) {
    const Bytes bytes = pattern(2'000, 1);
    ASSERT_TRUE(add_file(volume, "0trace.dat", bytes));
    const Bytes before = disk.image();
    EXPECT_EQ(add_file(volume, "0TRACE.DAT", {}).error(), lib::Error::exists);
    EXPECT_EQ(disk.image(), before);
}

TEST_P(FatWriterTest, RefusesMoreThanIsFreeBeforeAnythingIsWritten) {
    const std::uint64_t free = volume.free_bytes().value();
    const Bytes before = disk.image();
    FileWriter writer(volume);
    EXPECT_EQ(writer.create({.name = "big", .size_hint_bytes = free + 1}).error(), lib::Error::no_space);
    EXPECT_EQ(disk.image(), before);
    EXPECT_TRUE(writer.create({.name = "big", .size_hint_bytes = free}));
}

TEST_P(FatWriterTest, WritesOneFileAtATimeAndForgetsAnAbandonedOne) {
    FileWriter writer(volume);
    const std::uint64_t free = volume.free_bytes().value();
    ASSERT_TRUE(writer.create({.name = "a"}));
    EXPECT_EQ(writer.create({.name = "b"}).error(), lib::Error::busy);
    ASSERT_TRUE(writer.append(pattern(10'000, 1)));
    EXPECT_EQ(volume.find("a").error(), lib::Error::not_found); // not before close()
    ASSERT_TRUE(writer.abandon());
    EXPECT_EQ(volume.free_bytes().value(), free);
    const FatReport report = check_fat(disk.image());
    expect_clean(report);
    EXPECT_TRUE(report.files.empty());
}

TEST_P(FatWriterTest, WritesAroundClustersInUse) {
    const Geometry& geometry = volume.geometry();
    for (Cluster cluster = 4; cluster < 600; cluster += 1 + cluster % 7) {
        ASSERT_TRUE(volume.table().set(cluster, kEndOfChain));
    }
    ASSERT_TRUE(volume.table().flush());
    const std::uint32_t used = check_fat(disk.image()).lost_clusters;
    for (const std::size_t piece : {700U, 5'000U, 1'000'000U}) {
        const std::string name = std::to_string(piece);
        const Bytes bytes = pattern(100 * geometry.cluster_bytes() + 100, 1);
        ASSERT_TRUE(add_file(volume, name, bytes, piece));
        EXPECT_EQ(read_back(volume, name), bytes) << piece;
    }
    const FatReport report = check_fat(disk.image());
    EXPECT_TRUE(report.damage.empty() && report.copies_equal && report.hint_right) << report.text();
    EXPECT_EQ(report.lost_clusters, used);
}

TEST_P(FatWriterTest, FreesTheWholeRunThatCannotBeLinked) {
    FileWriter writer(volume);
    const std::size_t cluster_bytes = volume.geometry().cluster_bytes();
    const std::uint64_t free = volume.free_bytes().value();
    ASSERT_TRUE(writer.create({.name = "a"}));
    // Up to the end of a sector of the table; cluster 2 of a FAT32 volume is the root directory.
    const std::uint32_t clusters = volume.geometry().type == FatType::fat16 ? 256 - 2 : 128 - 3;
    ASSERT_TRUE(writer.append(pattern(clusters * cluster_bytes, 1)));
    disk.fail_read(1, FakeDisk::Failure::once); // 0: the next sector of the table; 1: that of the last cluster again
    EXPECT_EQ(writer.append(pattern(5 * cluster_bytes, 2)).error(), lib::Error::io);
    EXPECT_FALSE(disk.fault_pending());
    EXPECT_EQ(volume.free_bytes().value(), free);
    expect_clean(check_fat(disk.image()));
}

TEST_P(FatWriterTest, PadsTheLastSectorWithZeros) {
    FileWriter writer(volume);
    ASSERT_TRUE(writer.create({.name = "a"}));
    ASSERT_TRUE(writer.append(Bytes(511, std::byte{0xAA}))); // then 3 of the next sector: the buffer holds 508 old ones
    ASSERT_TRUE(writer.append(Bytes(4, std::byte{0xAA})));
    ASSERT_TRUE(writer.close());
    const Cluster first = volume.find("a").value().first_cluster;
    const std::size_t start = std::size_t{volume.geometry().first_sector(first)} * kSectorBytes;
    const std::size_t second = volume.geometry().sectors_per_cluster > 1
                                   ? start + kSectorBytes
                                   : std::size_t{volume.geometry().first_sector(first + 1)} * kSectorBytes;
    EXPECT_EQ(disk.image()[second + 2], std::byte{0xAA});
    for (std::size_t i = 3; i < kSectorBytes; ++i) {
        ASSERT_EQ(disk.image()[second + i], std::byte{0}) << i;
    }
}

TEST_P(FatWriterTest, StoresTheGivenDate) {
    FileWriter writer(volume);
    ASSERT_TRUE(writer.create(
        {.name = "a", .modified = {.year = 2107, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 58}}));
    ASSERT_TRUE(writer.close());
    const DateTime time = volume.find("a").value().modified;
    EXPECT_EQ(time.year, 2107);
    EXPECT_EQ(time.month, 12);
    EXPECT_EQ(time.day, 31);
    EXPECT_EQ(time.hour, 23);
    EXPECT_EQ(time.minute, 59);
    EXPECT_EQ(time.second, 58);
    EXPECT_EQ(writer.create({.name = "b", .modified = {.year = 2108}}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(writer.create({.name = "b", .modified = {.year = 1979}}).error(), lib::Error::invalid_argument);
}

// A file's size has 32 bits. Zeros that take no memory: nothing but what is written is read.
TEST_P(FatWriterTest, RefusesThe4GiBBeforeAnythingOfItIsWritten) {
    constexpr std::size_t kGreatest = 0xFFFF'FFFF;
    void* const zeros = mmap(nullptr, kGreatest + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(zeros, MAP_FAILED);
    const std::span bytes(static_cast<const std::byte*>(zeros), kGreatest + 1);
    const auto sectors_for = [&](std::size_t first, std::size_t second) {
        FileWriter writer(volume);
        EXPECT_TRUE(writer.create({.name = "big"}));
        EXPECT_TRUE(writer.append(bytes.first(first)));
        disk.record_journal();
        EXPECT_EQ(writer.append(bytes.first(second)).error(), lib::Error::no_space);
        return disk.journal().size();
    };
    const std::uint32_t all = volume.geometry().cluster_count;
    EXPECT_LT(sectors_for(kSectorBytes, kGreatest), all); // what giving up writes
    EXPECT_LT(sectors_for(kSectorBytes, kGreatest - kSectorBytes + 1), all);
    EXPECT_GE(sectors_for(kSectorBytes, kGreatest - kSectorBytes), all) << "until the volume is full";
    munmap(zeros, kGreatest + 1);
}

TEST(FatNames, AcceptsWhatFits8Dot3AndNothingElse) {
    for (const std::string_view good :
         {"0trace.dat", "10trace.dat", "100trace", "A", "abcdefgh.ijk", "a_b-c$%'.@~`", "!(){}^#&"}) {
        EXPECT_TRUE(make_short_name(good)) << good;
    }
    for (const std::string_view bad :
         {"1000trace.dat", "100trace2.dat", "",    ".",   "..",  ".dat", "a.",    "a.b.c",   "a.dats", "a b",
          "a/b",           "a\\b",          "a*",  "a?",  "a:b", "a\"b", "a<b",   "a>b",     "a|b",    "a+b",
          "a,b",           "a;b",           "a=b", "a[b", "a]b", "\xE5", "a\x01", "\xC3\xA4"}) {
        EXPECT_EQ(make_short_name(bad).error(), lib::Error::invalid_argument) << bad;
    }
    EXPECT_EQ(make_short_name("100trace.dat").value().text, make_short_name("100TRACE.DAT").value().text);
    EXPECT_EQ(make_short_name("0trace.DAT").value().lower_case, 0x08);
    EXPECT_EQ(make_short_name("0TRACE.dat").value().lower_case, 0x10);
    EXPECT_EQ(make_short_name("Trace.dat").value().lower_case, 0x10); // mixed: stored in upper case
}

TEST(FatFormat, RefusesADeviceThatHoldsSomething) {
    FakeDisk disk(kFat16.sectors);
    disk.image()[68 * 1024 - 1] = std::byte{1};
    const Bytes before = disk.image();
    EXPECT_EQ(format(disk, {}).error(), lib::Error::refused);
    EXPECT_EQ(disk.image(), before);
    EXPECT_TRUE(format(disk, {.overwrite = Overwrite::anything}));
    expect_clean(check_fat(disk.image()));
    EXPECT_EQ(format(disk, {}).error(), lib::Error::refused); // our own volume too
}

TEST(FatFormat, RefusesWhatCannotBeAVolume) {
    FakeDisk small(4'000);
    EXPECT_EQ(format(small, {}).error(), lib::Error::no_space);
    FakeDisk nothing(0);
    EXPECT_EQ(format(nothing, {}).error(), lib::Error::no_space);
    FakeDisk disk(kFat16.sectors);
    EXPECT_EQ(format(disk, {.type = FormatType::fat32}).error(), lib::Error::no_space);
    EXPECT_EQ(format(disk, {.label = "TWELVE CHARS"}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(format(disk, {.label = ""}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(format(disk, {.label = "A*B"}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(format(disk, {.created = {.month = 13}}).error(), lib::Error::invalid_argument);
}

TEST(FatFormat, ACutFormatLeavesNoVolume) {
    FakeDisk disk(formatted(kFat16));
    const Bytes before = disk.image();
    disk.record_journal();
    ASSERT_TRUE(format(disk, {.overwrite = Overwrite::anything}));
    Bytes image = before;
    for (std::size_t writes = 1; writes < disk.journal().size(); ++writes) {
        FakeDisk::apply(disk.journal()[writes - 1], image);
        FakeDisk cut(image);
        Volume volume;
        ASSERT_EQ(volume.mount(cut).error(), lib::Error::not_found) << writes;
    }
}

// --- full ----------------------------------------------------------------------------------------------------------

class FatFullTest : public testing::TestWithParam<Flavour> {};

INSTANTIATE_TEST_SUITE_P(Types, FatFullTest, testing::Values(kFat16, kFat16Wide, kFat32));

TEST_P(FatFullTest, TakesExactlyTheLastClusterAndNotOneByteMore) {
    const Bytes start = nearly_full(GetParam(), 20);
    FakeDisk disk(start);
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    const std::uint64_t free = volume.free_bytes().value();
    ASSERT_GT(free, 0U);
    ASSERT_TRUE(add_file(volume, "exact", pattern(free, 1)));
    EXPECT_EQ(volume.free_bytes().value(), 0U);
    FatReport report = check_fat(disk.image());
    EXPECT_TRUE(report.damage.empty()) << report.text();
    EXPECT_EQ(report.free_clusters, 0U);
    EXPECT_EQ(report.files.at("EXACT      "), pattern(free, 1));

    EXPECT_EQ(add_file(volume, "one", pattern(1, 2)).error(), lib::Error::no_space);
    ASSERT_TRUE(add_file(volume, "empty", {})); // needs no cluster

    FakeDisk again(start);
    ASSERT_TRUE(volume.mount(again));
    FileWriter writer(volume);
    ASSERT_TRUE(writer.create({.name = "toomuch"}));
    EXPECT_EQ(writer.append(pattern(free + 1, 1)).error(), lib::Error::no_space);
    EXPECT_FALSE(writer.is_open());
    EXPECT_EQ(volume.free_bytes().value(), free);
    report = check_fat(again.image());
    EXPECT_TRUE(report.damage.empty() && report.copies_equal && report.hint_right) << report.text();
    EXPECT_EQ(report.lost_clusters, check_fat(start).lost_clusters); // the bad ones
    EXPECT_TRUE(report.files.empty());
}

TEST(FatFull, A16BitRootDirectoryTakes511FilesBesideItsLabel) {
    FakeDisk disk(formatted(kFat16));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    for (unsigned i = 0; i < 511; ++i) {
        ASSERT_TRUE(add_file(volume, std::to_string(i), pattern(1, i))) << i;
    }
    const Bytes before = disk.image();
    EXPECT_EQ(add_file(volume, "511", {}).error(), lib::Error::no_space);
    EXPECT_EQ(disk.image(), before);
    const FatReport report = check_fat(disk.image());
    expect_clean(report);
    EXPECT_EQ(report.files.size(), 511U);
}

TEST(FatFull, A32BitRootDirectoryGrowsByClusters) {
    FakeDisk disk(formatted(kFat32));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    for (unsigned i = 0; i < 100; ++i) {
        ASSERT_TRUE(add_file(volume, std::to_string(i), pattern(600, i))) << i;
    }
    const FatReport report = check_fat(disk.image());
    expect_clean(report);
    EXPECT_EQ(report.files.size(), 100U);
    EXPECT_EQ(read_back(volume, "99"), pattern(600, 99));
}

TEST(FatFull, A32BitRootDirectoryThatCannotGrowIsFull) {
    FakeDisk disk(nearly_full(kFat32, 8));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    for (unsigned i = 0; i < 15; ++i) { // 16 entries in a cluster, one is the label
        ASSERT_TRUE(add_file(volume, std::to_string(i), {}));
    }
    ASSERT_TRUE(volume.free_bytes().value() == 8 * kSectorBytes);
    FileWriter writer(volume);
    EXPECT_EQ(writer.create({.name = "a", .size_hint_bytes = 8 * kSectorBytes}).error(), lib::Error::no_space);
    ASSERT_TRUE(add_file(volume, "fits", pattern(7 * kSectorBytes, 1)));
    for (unsigned i = 0; i < 15; ++i) {
        ASSERT_TRUE(add_file(volume, "x" + std::to_string(i), {}));
    }
    EXPECT_EQ(add_file(volume, "y", {}).error(), lib::Error::no_space);
    EXPECT_TRUE(check_fat(disk.image()).damage.empty());
}

TEST(FatWriter, EntriesAfterTheEndMarkNeverAppear) {
    for (const Flavour& flavour : {kFat16, kFat32}) {
        FakeDisk disk(formatted(flavour));
        Volume volume;
        ASSERT_TRUE(volume.mount(disk));
        // A formatter that leaves data: a label, the end, then bytes that look like entries, over two sectors.
        const Geometry& geometry = volume.geometry();
        const std::size_t root =
            std::size_t{geometry.type == FatType::fat16 ? geometry.first_root : geometry.first_data} * kSectorBytes;
        const std::size_t end = root + (geometry.type == FatType::fat16 ? 2 : 1) * kSectorBytes;
        for (std::size_t at = root + 2 * 32; at < end; ++at) {
            disk.image()[at] = std::byte{'A'}; // read as attributes, this is a file
        }
        for (unsigned i = 0; i < 20; ++i) {
            ASSERT_TRUE(add_file(volume, std::to_string(i), {}));
            const FatReport report = check_fat(disk.image());
            ASSERT_TRUE(report.damage.empty()) << report.text();
            ASSERT_EQ(report.files.size(), i + 1);
        }
    }
}

TEST(FatWriter, ReusesDeletedEntriesAndKeepsTheUpperBitsOf32BitEntries) {
    FakeDisk disk(formatted(kFat32));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    const std::size_t table = volume.geometry().first_fat * kSectorBytes;
    disk.image()[table + 3 * 4 + 3] = std::byte{0xA0}; // reserved bits of cluster 3
    const std::size_t root = volume.geometry().first_data * kSectorBytes;
    ASSERT_TRUE(add_file(volume, "a", {}));
    ASSERT_TRUE(add_file(volume, "b", {}));
    disk.image()[root + 32] = std::byte{0xE5};
    ASSERT_TRUE(volume.mount(disk));
    ASSERT_TRUE(add_file(volume, "c", pattern(1, 1)));
    EXPECT_EQ(disk.image()[root + 32], std::byte{'C'});
    EXPECT_TRUE(volume.find("b")) << "the directory does not end after a deleted entry";
    EXPECT_EQ(disk.image()[table + 3 * 4 + 3], std::byte{0xAF});
}

TEST(FatRead, CorruptChainsAreErrorsNotLoops) {
    FakeDisk disk(formatted(kFat16));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    ASSERT_TRUE(add_file(volume, "a", pattern(5'000, 1)));
    const FileInfo file = volume.find("a").value();
    const auto set_link = [&](std::uint16_t value) {
        const std::size_t at = volume.geometry().first_fat * kSectorBytes + file.first_cluster * 2;
        lib::store_le(std::span(disk.image()).subspan(at), value);
        ASSERT_TRUE(volume.mount(disk));
    };
    Bytes out(5'000);
    for (const unsigned wrong : {0U, 1U, 0xFFF7U, 0xFFFFU, 0x7FFFU}) {
        set_link(static_cast<std::uint16_t>(wrong));
        EXPECT_EQ(volume.read(file, 0, out).error(), lib::Error::corrupt) << wrong;
    }
    set_link(static_cast<std::uint16_t>(file.first_cluster)); // a circular chain ends with the size
    EXPECT_TRUE(volume.read(file, 0, out));
}

TEST(FatRead, ACircularRootDirectoryIsCorrupt) {
    FakeDisk disk(formatted(kFat32));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    for (unsigned i = 0; i < 16; ++i) {
        ASSERT_TRUE(add_file(volume, std::to_string(i), {}));
    }
    const std::size_t at = volume.geometry().first_fat * kSectorBytes + volume.geometry().root_cluster * 4;
    lib::store_le(std::span(disk.image()).subspan(at), std::uint32_t{2});
    ASSERT_TRUE(volume.mount(disk));
    EXPECT_EQ(volume.find("nothere").error(), lib::Error::corrupt);
    EXPECT_EQ(add_file(volume, "new", {}).error(), lib::Error::corrupt);
}

} // namespace writer_test
} // namespace drivers::fat
