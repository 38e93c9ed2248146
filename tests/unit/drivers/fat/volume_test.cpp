// SPDX-License-Identifier: MIT
// Tests finding and reading on volumes whose entries and chains were made by hand: foreign, damaged, and as large as
// the format allows.
#include "lib/endian.hpp"
#include "tests/support/fat_volumes.hpp"

namespace drivers::fat {
namespace volume_test {

using namespace test;

class FatVolume : public testing::TestWithParam<Flavour> {
  protected:
    FatVolume()
        : m_disk(formatted(GetParam())) {
        mount();
    }

    void mount() { ASSERT_TRUE(m_volume.mount(m_disk)); }

    [[nodiscard]] bool wide() const { return GetParam().type == FormatType::fat32; }

    // Of the first entry after the label.
    template <typename T>
    void patch_entry(std::size_t offset, T value) {
        const Geometry& geometry = m_volume.geometry();
        const std::size_t root = (wide() ? geometry.first_data : geometry.first_root) * kSectorBytes;
        lib::store_le(std::span(m_disk.image()).subspan(root + kDirectoryEntryBytes + offset), value);
    }

    FakeDisk m_disk;
    Volume m_volume;
};

INSTANTIATE_TEST_SUITE_P(Types, FatVolume, testing::Values(kFat16, kFat32));

TEST_P(FatVolume, AFileMustBeginInsideOfIt) {
    ASSERT_TRUE(add_file(m_volume, "a", pattern(600, 1)));
    const std::uint32_t end = kFirstCluster + m_volume.geometry().cluster_count;
    for (const std::uint32_t first : {0U, 1U, end, 0xFFFFU}) {
        const bool inside = m_volume.geometry().holds(first);
        patch_entry(26, static_cast<std::uint16_t>(first));
        patch_entry(20, static_cast<std::uint16_t>(first >> 16));
        const auto found = m_volume.find("a");
        EXPECT_EQ(found.ok() || found.error() != lib::Error::corrupt, inside) << first;
    }
    patch_entry(26, static_cast<std::uint16_t>(end - 1));
    patch_entry(20, static_cast<std::uint16_t>((end - 1) >> 16));
    EXPECT_EQ(m_volume.find("a").value().first_cluster, end - 1);
}

TEST_P(FatVolume, AnEmptyFileHasNoCluster) {
    ASSERT_TRUE(add_file(m_volume, "a", {}));
    const FileInfo file = m_volume.find("a").value();
    EXPECT_EQ(file.first_cluster, 0U);
    EXPECT_EQ(file.size_bytes, 0U);
    Bytes out(1);
    EXPECT_EQ(m_volume.read(file, 0, out).value(), 0U);
    patch_entry(28, std::uint32_t{1}); // a size without a cluster
    EXPECT_EQ(m_volume.find("a").error(), lib::Error::corrupt);
}

TEST_P(FatVolume, TheUpperHalfOfAFirstClusterCountsOnFat32Only) {
    ASSERT_TRUE(add_file(m_volume, "a", pattern(600, 1)));
    const Cluster first = m_volume.find("a").value().first_cluster;
    patch_entry(20, std::uint16_t{0x1234});
    const auto found = m_volume.find("a");
    if (wide()) {
        EXPECT_EQ(found.error(), lib::Error::corrupt);
    } else {
        EXPECT_EQ(found.value().first_cluster, first);
    }
}

TEST_P(FatVolume, OnlyNamesAreFound) {
    ASSERT_TRUE(add_file(m_volume, "a", {}));
    EXPECT_EQ(m_volume.find("remora").error(), lib::Error::not_found) << "the label";
    EXPECT_EQ(m_volume.find("b").error(), lib::Error::not_found);
    EXPECT_EQ(m_volume.find("no name").error(), lib::Error::invalid_argument);
    patch_entry(11, std::uint8_t{0x10});
    EXPECT_EQ(m_volume.find("a").error(), lib::Error::invalid_argument) << "a directory";
    patch_entry(11, std::uint8_t{0x0F});
    EXPECT_EQ(m_volume.find("a").error(), lib::Error::not_found) << "a part of a long name";
}

// The clusters of a file of three, in another order than on the disk.
TEST_P(FatVolume, FollowsTheChainAndNotTheOrderOnTheDisk) {
    const std::size_t cluster = m_volume.geometry().cluster_bytes();
    const Bytes bytes = pattern(3 * cluster, 1);
    ASSERT_TRUE(add_file(m_volume, "a", bytes));
    const FileInfo file = m_volume.find("a").value();
    ASSERT_TRUE(m_volume.table().set(file.first_cluster, file.first_cluster + 2));
    ASSERT_TRUE(m_volume.table().set(file.first_cluster + 2, file.first_cluster + 1));
    ASSERT_TRUE(m_volume.table().set(file.first_cluster + 1, kEndOfChain));
    const auto part = [&](std::size_t begin, std::size_t end) {
        return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                     bytes.begin() + static_cast<std::ptrdiff_t>(end));
    };
    Bytes out(cluster);
    ASSERT_EQ(m_volume.read(file, static_cast<std::uint32_t>(cluster), out).value(), cluster);
    EXPECT_EQ(out, part(2 * cluster, 3 * cluster));
    ASSERT_EQ(m_volume.read(file, static_cast<std::uint32_t>(2 * cluster), out).value(), cluster);
    EXPECT_EQ(out, part(cluster, 2 * cluster));
    out.resize(20);
    ASSERT_EQ(m_volume.read(file, static_cast<std::uint32_t>(cluster - 10), out).value(), 20U);
    Bytes expected = part(cluster - 10, cluster);
    const Bytes rest = part(2 * cluster, 2 * cluster + 10);
    expected.insert(expected.end(), rest.begin(), rest.end());
    EXPECT_EQ(out, expected);
}

TEST_P(FatVolume, AFailingReadIsReported) {
    ASSERT_TRUE(add_file(m_volume, "a", pattern(5'000, 1)));
    const FileInfo file = m_volume.find("a").value();
    Bytes out(5'000);
    std::uint64_t reads = 0;
    for (;; ++reads) {
        mount();
        m_disk.fail_read(reads, FakeDisk::Failure::once);
        const auto count = m_volume.read(file, 0, out);
        if (count) {
            EXPECT_EQ(out, pattern(5'000, 1));
            break;
        }
        EXPECT_EQ(count.error(), lib::Error::io);
    }
    EXPECT_EQ(reads, 10U) << "the file's sectors; that of the table was read by mount()";
}

// --- the root directory of FAT32 -----------------------------------------------------------------------------------

// A volume whose root directory is a chain of so many clusters of one sector, all filled with names.
Bytes with_root_of(std::uint32_t clusters, std::uint32_t last_link) {
    FakeDisk disk(formatted(kFat32));
    Volume volume;
    EXPECT_TRUE(volume.mount(disk));
    const Geometry geometry = volume.geometry();
    for (std::uint32_t i = 0; i < clusters; ++i) {
        const std::uint32_t link = i + 1 == clusters ? last_link : kFirstCluster + i + 1;
        const std::size_t entry = geometry.first_fat * kSectorBytes + (kFirstCluster + i) * 4;
        lib::store_le(std::span(disk.image()).subspan(entry), link);
        const std::size_t sector = (geometry.first_data + i) * kSectorBytes;
        for (std::size_t at = 0; at < kSectorBytes; at += kDirectoryEntryBytes) {
            disk.image()[sector + at] = std::byte{'A'};
        }
    }
    return disk.image();
}

TEST(FatRoot32, EndsWithAnyOfTheEightEndMarks) {
    const auto error_with = [](std::uint32_t link) {
        FakeDisk disk(with_root_of(1, link));
        Volume volume;
        EXPECT_TRUE(volume.mount(disk));
        return volume.find("nothere").error();
    };
    EXPECT_EQ(error_with(0x0FFF'FFFF), lib::Error::not_found);
    EXPECT_EQ(error_with(0x0FFF'FFF8), lib::Error::not_found);
    EXPECT_EQ(error_with(0xFFFF'FFFF), lib::Error::not_found) << "the upper bits are reserved";
    EXPECT_EQ(error_with(0x0FFF'FFF7), lib::Error::corrupt) << "bad";
    EXPECT_EQ(error_with(0), lib::Error::corrupt);
    EXPECT_EQ(error_with(1), lib::Error::corrupt);
}

// 4096 sectors of sixteen entries.
TEST(FatRoot32, Has65536EntriesAtMost) {
    FakeDisk full(with_root_of(4'096, 0x0FFF'FFFF));
    Volume volume;
    ASSERT_TRUE(volume.mount(full));
    EXPECT_EQ(volume.find("nothere").error(), lib::Error::not_found);
    EXPECT_EQ(add_file(volume, "new", {}).error(), lib::Error::no_space) << "it cannot grow";
    FakeDisk larger(with_root_of(4'097, 0x0FFF'FFFF));
    ASSERT_TRUE(volume.mount(larger));
    EXPECT_EQ(volume.find("nothere").error(), lib::Error::corrupt);
    FakeDisk last(with_root_of(4'095, 0x0FFF'FFFF));
    ASSERT_TRUE(volume.mount(last));
    EXPECT_TRUE(add_file(volume, "new", {}));
    EXPECT_TRUE(volume.find("new"));
}

} // namespace volume_test
} // namespace drivers::fat
