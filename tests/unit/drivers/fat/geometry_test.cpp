// SPDX-License-Identifier: MIT
// Tests boot sectors: the type of FAT, every field that can be wrong, partitions, and the effect of seeded mutations on
// a mount.
#include "drivers/fat/format.hpp"
#include "drivers/fat/volume.hpp"
#include "lib/endian.hpp"
#include "tests/support/fake_disk.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace drivers::fat {
namespace geometry_test {

using test::FakeDisk;

constexpr std::uint64_t kSectors16 = 16'384; // 8 MiB
constexpr std::uint64_t kSectors32 = 68'000; // 33 MiB

using Image = std::vector<std::byte>;

Image formatted(std::uint64_t sectors, FormatType type) {
    FakeDisk disk(sectors);
    EXPECT_TRUE(format(disk, {.type = type}));
    return disk.image();
}

template <typename T>
void patch(FakeDisk& disk, std::size_t offset, T value) {
    lib::store_le(std::span(disk.image()).subspan(offset), value);
}

Defect mount_defect(FakeDisk& disk) {
    Volume volume;
    const auto mounted = volume.mount(disk);
    EXPECT_EQ(mounted.ok(), volume.mounted());
    EXPECT_EQ(mounted.ok(), volume.defect() == Defect::none);
    return volume.defect();
}

// A boot sector with exactly this many clusters of one sector.
Defect defect_with_clusters(std::uint32_t clusters, bool wide, FatType& type) {
    FakeDisk disk(formatted(wide ? kSectors32 : kSectors16, wide ? FormatType::fat32 : FormatType::fat16));
    const auto plain = read_boot_sector(std::span(disk.image()).first(kSectorBytes), disk.sector_count());
    patch(disk, 13, std::uint8_t{1});
    const std::uint32_t fat_sectors = 600;
    patch(disk, wide ? 36 : 22, static_cast<std::uint16_t>(fat_sectors));
    const std::uint32_t first_data = plain.geometry.first_fat + 2 * fat_sectors + plain.geometry.root_sectors;
    patch(disk, 19, std::uint16_t{0});
    patch(disk, 32, first_data + clusters);
    const auto reading = read_boot_sector(std::span(disk.image()).first(kSectorBytes), 1'000'000);
    type = reading.geometry.type;
    return reading.defect;
}

TEST(FatGeometry, TheNumberOfClustersAloneDecidesTheType) {
    FatType type{};
    EXPECT_EQ(defect_with_clusters(4084, false, type), Defect::fat12);
    EXPECT_EQ(defect_with_clusters(4085, false, type), Defect::none);
    EXPECT_EQ(type, FatType::fat16);
    EXPECT_EQ(defect_with_clusters(65524, false, type), Defect::none);
    EXPECT_EQ(type, FatType::fat16);
    EXPECT_EQ(defect_with_clusters(65525, true, type), Defect::none);
    EXPECT_EQ(type, FatType::fat32);
    EXPECT_NE(defect_with_clusters(65525, false, type), Defect::none); // FAT16's fields, FAT32's clusters
    EXPECT_NE(defect_with_clusters(65524, true, type), Defect::none);
}

TEST(FatGeometry, TheTableMayBeFilledToItsLastEntry) {
    // 17 sectors of 256 entries, two of which are no clusters.
    for (const auto& [clusters, defect] : {std::pair{4'350U, Defect::none}, std::pair{4'351U, Defect::fat_size}}) {
        FakeDisk disk(formatted(4'200, FormatType::fat16));
        patch(disk, 19, static_cast<std::uint16_t>(1 + 2 * 17 + 32 + clusters));
        const auto reading = read_boot_sector(std::span(disk.image()).first(kSectorBytes), 10'000);
        EXPECT_EQ(reading.geometry.cluster_count, clusters);
        EXPECT_EQ(reading.defect, defect);
    }
}

TEST(FatGeometry, AMediaByteIsF0OrF8ToFF) {
    FakeDisk disk(formatted(kSectors16, FormatType::fat16));
    for (unsigned media = 0; media < 256; ++media) {
        patch(disk, 21, static_cast<std::uint8_t>(media));
        const auto reading = read_boot_sector(std::span(disk.image()).first(kSectorBytes), kSectors16);
        EXPECT_EQ(reading.defect, media == 0xF0 || media >= 0xF8 ? Defect::none : Defect::media) << media;
    }
}

TEST(FatGeometry, EachDefectHasATextOfItsOwn) {
    std::set<std::string_view> texts;
    const auto count = static_cast<std::size_t>(Defect::backup_boot_sector) + 1;
    for (std::size_t defect = 0; defect < count; ++defect) {
        texts.insert(defect_text(static_cast<Defect>(defect)));
    }
    EXPECT_EQ(texts.size(), count);
    EXPECT_FALSE(texts.contains(""));
    EXPECT_EQ(defect_text(Defect::none), "none");
    EXPECT_EQ(defect_text(Defect::backup_boot_sector), "backup boot sector");
}

TEST(FatGeometry, NamesEachWrongFieldOfAFat16BootSector) {
    struct Case {
        std::size_t offset;
        std::uint16_t value;
        Defect expected;
    };

    const Case cases[] = {
        {0, 0x0000, Defect::jump},
        {11, 0, Defect::bytes_per_sector},
        {11, 513, Defect::bytes_per_sector},
        {11, 4096, Defect::sector_size},
        {13, 0x0100, Defect::cluster_size}, // 0, and the reserved sectors' low byte
        {13, 0x0103, Defect::cluster_size},
        {14, 0, Defect::reserved_sectors},
        {17, 0, Defect::root_entries},
        {17, 17, Defect::root_entries},
        {19, 0, Defect::total_sectors},
        {19, 30, Defect::layout},
        {19, 2000, Defect::fat12},
        {19, static_cast<std::uint16_t>(kSectors16 + 1), Defect::total_sectors},
        {22, 0, Defect::layout}, // falls back to the 32-bit field, which is other data on FAT16
        {22, 1, Defect::fat_size},
        {510, 0, Defect::no_volume},
    };
    const Image good = formatted(kSectors16, FormatType::fat16);
    for (const Case& item : cases) {
        FakeDisk disk(good);
        patch(disk, item.offset, item.value);
        EXPECT_EQ(defect_text(mount_defect(disk)), defect_text(item.expected)) << item.offset << " " << item.value;
    }
    FakeDisk disk(good);
    patch(disk, 16, std::uint8_t{0});
    EXPECT_EQ(mount_defect(disk), Defect::fat_count);
    disk.image() = good;
    patch(disk, 21, std::uint8_t{0xF1});
    EXPECT_EQ(mount_defect(disk), Defect::media);
    disk.image() = good;
    patch(disk, 21, std::uint8_t{0xF0}); // legal, but the table says F8
    EXPECT_EQ(mount_defect(disk), Defect::media);
    disk.image() = good;
    patch(disk, 32, std::uint32_t{kSectors16 - 1}); // two totals that differ
    EXPECT_EQ(mount_defect(disk), Defect::total_sectors);
}

TEST(FatGeometry, NamesEachWrongFieldOfAFat32BootSector) {
    struct Case {
        std::size_t offset;
        std::uint32_t value;
        Defect expected;
    };

    const Case cases[] = {
        {36, 1, Defect::fat_size},
        {36, 0xFFFF'FFFF, Defect::layout},
        {40, 0x0000'0080, Defect::mirroring_off},
        {40, 0x0100'0000, Defect::version},
        {44, 1, Defect::root_cluster},
        {44, 70'000, Defect::root_cluster},
        {48, 0x0006'0020, Defect::info_sector},
        {48, 0x0020'0001, Defect::backup_boot_sector},
        {32, 0, Defect::total_sectors},
        {32, kSectors32 + 1, Defect::total_sectors},
    };
    const Image good = formatted(kSectors32, FormatType::fat32);
    for (const Case& item : cases) {
        FakeDisk disk(good);
        patch(disk, item.offset, item.value);
        EXPECT_EQ(defect_text(mount_defect(disk)), defect_text(item.expected)) << item.offset << " " << item.value;
    }
    FakeDisk disk(good);
    patch(disk, 17, std::uint16_t{16}); // a FAT16 root directory
    EXPECT_EQ(mount_defect(disk), Defect::root_entries);
    disk.image() = good;
    patch(disk, 22, std::uint16_t{600}); // the 16-bit size of a FAT
    EXPECT_EQ(mount_defect(disk), Defect::fat_size);
    disk.image() = good;
    patch(disk, 48, std::uint32_t{0xFFFF'FFFF}); // no FSInfo, no backup: allowed
    EXPECT_EQ(mount_defect(disk), Defect::none);
}

TEST(FatMount, DistinguishesKindsOfFailure) {
    EXPECT_EQ(defect_error(Defect::no_volume), lib::Error::not_found);
    EXPECT_EQ(defect_error(Defect::fat12), lib::Error::unsupported);
    EXPECT_EQ(defect_error(Defect::sector_size), lib::Error::unsupported);
    EXPECT_EQ(defect_error(Defect::layout), lib::Error::corrupt);
    Volume volume;
    FakeDisk blank(kSectors16);
    EXPECT_EQ(volume.mount(blank).error(), lib::Error::not_found);
    FakeDisk nothing(0);
    EXPECT_EQ(volume.mount(nothing).error(), lib::Error::not_found);
    FakeDisk dead(formatted(kSectors16, FormatType::fat16));
    dead.fail_read(0, FakeDisk::Failure::permanently);
    EXPECT_EQ(volume.mount(dead).error(), lib::Error::io);
    EXPECT_FALSE(volume.mounted());
}

Image partitioned(std::uint32_t first, std::uint32_t sectors_in_table, std::uint8_t type) {
    const Image inner = formatted(kSectors16, FormatType::fat16);
    Image image(first * kSectorBytes);
    image.insert(image.end(), inner.begin(), inner.end());
    FakeDisk disk(std::move(image));
    patch(disk, 0, std::uint8_t{0xEB}); // GRUB's boot sector also begins with a jump that looks like FAT's
    patch(disk, 2, std::uint8_t{0x90});
    const std::size_t second_entry = 446 + 16;
    patch(disk, second_entry, std::uint8_t{0x80});
    patch(disk, second_entry + 4, type);
    patch(disk, second_entry + 8, first);
    patch(disk, second_entry + 12, sectors_in_table);
    patch(disk, 510, std::uint16_t{0xAA55});
    return disk.image();
}

TEST(FatMount, FindsTheVolumeInAPartition) {
    for (const unsigned type : {0x04U, 0x06U, 0x0EU, 0x0CU}) {
        FakeDisk disk(partitioned(63, kSectors16, static_cast<std::uint8_t>(type)));
        EXPECT_EQ(mount_defect(disk), Defect::none) << type;
    }
    FakeDisk linux(partitioned(63, kSectors16, 0x83));
    EXPECT_EQ(mount_defect(linux), Defect::bytes_per_sector); // what sector 0 looks like as a boot sector
    FakeDisk beyond(partitioned(63, kSectors16 + 1, 0x06));
    EXPECT_EQ(mount_defect(beyond), Defect::partition_bounds);
    FakeDisk tight(partitioned(63, kSectors16 - 1, 0x06)); // the volume is larger than its partition
    EXPECT_EQ(mount_defect(tight), Defect::total_sectors);
    FakeDisk wraps(partitioned(63, 0xFFFF'FFFF, 0x06));
    EXPECT_EQ(mount_defect(wraps), Defect::partition_bounds);
}

// For any boot sector, a mount ends and stays inside the device (otherwise the fake refuses and the sanitizers report
// it), and an accepted volume can be searched, counted and read.
TEST(FatMount, SurvivesSeededMutationsOfItsBootSector) {
    std::mt19937 random(20240608); // NOLINT: reproducible on purpose
    const Image good16 = formatted(kSectors16, FormatType::fat16);
    const Image good32 = formatted(kSectors32, FormatType::fat32);
    FakeDisk disks[] = {FakeDisk(good16), FakeDisk(good32)};
    unsigned accepted = 0;
    constexpr unsigned kRounds = 60'000;
    for (unsigned round = 0; round < kRounds; ++round) {
        FakeDisk& disk = disks[round % 2];
        const Image& good = round % 2 == 0 ? good16 : good32;
        std::copy_n(good.begin(), kSectorBytes, disk.image().begin());
        for (auto change = 1 + random() % 4; change > 0; --change) {
            // Mostly in the fields, sometimes in the partition table.
            const std::size_t offset = random() % 4 != 0 ? random() % 90 : 446 + random() % 66;
            disk.image()[offset] = static_cast<std::byte>(random() % 3 == 0 ? 1U << (random() % 8) : random());
        }
        Volume volume;
        if (!volume.mount(disk)) {
            ASSERT_NE(defect_text(volume.defect()), "unknown defect");
            continue;
        }
        ++accepted;
        const Geometry& geometry = volume.geometry();
        ASSERT_LE(geometry.total_sectors, disk.sector_count());
        ASSERT_LE(geometry.first_data + std::uint64_t{geometry.cluster_count} * geometry.sectors_per_cluster,
                  geometry.total_sectors);
        const auto found = volume.find("0trace.dat");
        ASSERT_TRUE(found.ok() || found.error() != lib::Error::invalid_argument);
        if (accepted % 64 == 0) { // slow: reads the whole table
            const auto free = volume.free_bytes();
            ASSERT_TRUE(free.ok() && free.value() <= disk.image().size());
        }
    }
    EXPECT_GT(accepted, kRounds / 100);
    EXPECT_LT(accepted, kRounds);
}

} // namespace geometry_test
} // namespace drivers::fat
