// SPDX-License-Identifier: MIT
// Tests a new volume, byte by byte: the expected image is written down here from the specification, without the
// driver's code. And the sizes, from the smallest volume to the largest, on a disk that keeps only its boot sector.
#include "lib/endian.hpp"
#include "tests/support/fat_volumes.hpp"

#include <algorithm>
#include <initializer_list>

namespace drivers::fat {
namespace format_test {

using namespace test;

constexpr std::byte kFormerContents{0xEE};

// An image that is written field by field.
class Image {
  public:
    explicit Image(std::uint64_t sectors)
        : m_bytes(sectors * kSectorBytes, kFormerContents) {}

    void clear(std::size_t first, std::size_t sectors) {
        std::fill_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(first * kSectorBytes), sectors * kSectorBytes,
                    std::byte{0});
    }

    Image& at(std::size_t sector, std::size_t offset) {
        m_at = sector * kSectorBytes + offset;
        return *this;
    }

    Image& put(std::initializer_list<unsigned> bytes) {
        for (const unsigned byte : bytes) {
            m_bytes[m_at++] = static_cast<std::byte>(byte);
        }
        return *this;
    }

    Image& put(std::string_view text) {
        for (const char character : text) {
            m_bytes[m_at++] = static_cast<std::byte>(character);
        }
        return *this;
    }

    [[nodiscard]] const Bytes& bytes() const { return m_bytes; }

  private:
    Bytes m_bytes;
    std::size_t m_at = 0;
};

// 2024-05-17 13:45:31: date 44 << 9 | 5 << 5 | 17 = 58B1, time 13 << 11 | 45 << 5 | 15 = 6DAF.
constexpr DateTime kCreated{.year = 2024, .month = 5, .day = 17, .hour = 13, .minute = 45, .second = 31};

void put_label(Image& image, std::size_t root) {
    image.at(root, 0).put("MY LABEL   ").put({0x08, 0, 0, 0xAF, 0x6D, 0xB1, 0x58, 0xB1, 0x58, 0, 0, 0xAF, 0x6D});
    image.put({0xB1, 0x58, 0, 0, 0, 0, 0, 0});
}

void put_boot_tail(Image& image, std::string_view type) {
    image.put({0x80, 0x00, 0x29, 0x78, 0x56, 0x34, 0x12}).put("MY LABEL   ").put(type).put({0xCD, 0x18, 0xEB, 0xFE});
}

Bytes expected_fat16() {
    Image image(4'200); // 1 reserved, twice 17 for the table, 32 for the root directory
    image.clear(0, 1 + 34 + 32);
    image.at(0, 0).put({0xEB, 0x3C, 0x90}).put("REMORA  ");
    image.put({0x00, 0x02, 1, 1, 0, 2, 0x00, 0x02, 0x68, 0x10, 0xF8, 17, 0, 63, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    put_boot_tail(image, "FAT16   ");
    image.at(0, 510).put({0x55, 0xAA});
    for (const std::size_t table : {1U, 18U}) {
        image.at(table, 0).put({0xF8, 0xFF, 0xFF, 0xFF});
    }
    put_label(image, 35);
    return image.bytes();
}

Bytes expected_fat32() {
    Image image(67'000); // 32 reserved, twice 520 for the table, then cluster 2: 65928 clusters of one sector
    image.clear(0, 32 + 1'040 + 1);
    for (const std::size_t copy : {0U, 6U}) {
        image.at(copy, 0).put({0xEB, 0x58, 0x90}).put("REMORA  ");
        image.put({0x00, 0x02, 1, 32, 0, 2, 0, 0, 0, 0, 0xF8, 0, 0, 63, 0, 255, 0, 0, 0, 0, 0, 0xB8, 0x05, 0x01, 0});
        image.put({0x08, 0x02, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        put_boot_tail(image, "FAT32   ");
        image.at(copy, 510).put({0x55, 0xAA});
        image.at(copy + 1, 0).put("RRaA");
        image.at(copy + 1, 484).put("rrAa").put({0x87, 0x01, 0x01, 0, 3, 0, 0, 0}); // 65927 are free, 3 is the next
        image.at(copy + 1, 510).put({0x55, 0xAA});
        image.at(copy + 2, 510).put({0x55, 0xAA});
    }
    for (const std::size_t table : {32U, 552U}) {
        image.at(table, 0).put({0xF8, 0xFF, 0xFF, 0x0F, 0xFF, 0xFF, 0xFF, 0x0F, 0xFF, 0xFF, 0xFF, 0x0F});
    }
    put_label(image, 1'072);
    return image.bytes();
}

TEST(FatFormat, WritesTheseBytesAndNoOthers) {
    for (const bool fat16 : {true, false}) {
        const Bytes expected = fat16 ? expected_fat16() : expected_fat32();
        FakeDisk disk(Bytes(expected.size(), kFormerContents));
        ASSERT_TRUE(format(disk, {.label = "my label",
                                  .volume_id = 0x1234'5678,
                                  .type = fat16 ? FormatType::fat16 : FormatType::fat32,
                                  .overwrite = Overwrite::anything,
                                  .created = kCreated}));
        if (disk.image() != expected) {
            const auto place = std::ranges::mismatch(disk.image(), expected).in2 - expected.begin();
            ADD_FAILURE() << (fat16 ? "FAT16" : "FAT32") << ": another byte at " << place;
        }
    }
}

TEST(FatFormat, TheBootSectorIsClearedFirstAndWrittenLast) {
    for (const Flavour& flavour : {kFat16, kFat32}) {
        FakeDisk disk(flavour.sectors);
        disk.record_journal();
        ASSERT_TRUE(format(disk, {.type = flavour.type}));
        const auto& writes = disk.journal();
        EXPECT_EQ(writes.front().sector, 0U);
        EXPECT_EQ(writes.back().sector, 0U);
        EXPECT_EQ(std::ranges::count(writes, 0U, &FakeDisk::SectorWrite::sector), 2);
        const std::size_t reserved = flavour.type == FormatType::fat16 ? 1 : 32;
        EXPECT_EQ(disk.flushes(), (std::vector<std::size_t>{reserved, writes.size() - 1, writes.size()}));
    }
}

TEST(FatFormat, AnyFailureOfTheDeviceIsReported) {
    FakeDisk disk(kFat16.sectors);
    std::uint64_t writes = 0;
    for (;; ++writes) {
        disk.fail_write(writes, FakeDisk::Failure::once);
        if (format(disk, {.overwrite = Overwrite::anything})) {
            break;
        }
    }
    EXPECT_EQ(writes, 1U + 34 + 2 + 32 + 1 + 1); // cleared; table; its first sectors; root directory; label; boot
    disk.heal();
    for (std::uint64_t flush = 0; flush < 3; ++flush) {
        disk.fail_flush(flush);
        EXPECT_EQ(format(disk, {.overwrite = Overwrite::anything}).error(), lib::Error::io) << flush;
    }
    FakeDisk unreadable(kFat16.sectors);
    unreadable.fail_read(135, FakeDisk::Failure::once);
    EXPECT_EQ(format(unreadable, {}).error(), lib::Error::io);
}

TEST(FatFormat, ADeviceIsBlankIfItsFirst68KiBAre) {
    FakeDisk disk(200);
    EXPECT_TRUE(is_blank(disk).value());
    disk.image()[68 * 1024] = std::byte{1};
    EXPECT_TRUE(is_blank(disk).value());
    disk.image()[68 * 1024 - 1] = std::byte{1};
    EXPECT_FALSE(is_blank(disk).value());
    FakeDisk small(1); // shorter than that
    EXPECT_TRUE(is_blank(small).value());
    small.image()[0] = std::byte{1};
    EXPECT_FALSE(is_blank(small).value());
}

// --- sizes ---------------------------------------------------------------------------------------------------------

// Of any size, without the memory for it.
class HugeDisk final : public BlockDevice {
  public:
    explicit HugeDisk(std::uint64_t sectors)
        : m_sectors(sectors) {}

    [[nodiscard]] std::uint64_t sector_count() const override { return m_sectors; }

    [[nodiscard]] lib::Result<void> read(std::uint64_t, std::span<std::byte> out) override {
        std::ranges::fill(out, std::byte{0});
        return {};
    }

    [[nodiscard]] lib::Result<void> write(std::uint64_t first_sector, std::span<const std::byte> bytes) override {
        EXPECT_LT(first_sector, m_sectors);
        if (first_sector < 2) {
            std::ranges::copy(bytes, first_sector == 0 ? m_boot.begin() : m_info.begin());
        }
        return {};
    }

    [[nodiscard]] lib::Result<void> flush() override { return {}; }

    [[nodiscard]] Geometry geometry() const {
        const BootSectorReading reading = read_boot_sector(m_boot, m_sectors);
        EXPECT_EQ(reading.defect, Defect::none);
        return reading.geometry;
    }

    // The number of free clusters in FSInfo.
    [[nodiscard]] std::uint32_t free_hint() const {
        return lib::load_le<std::uint32_t>(std::span(m_info).subspan(488));
    }

  private:
    std::uint64_t m_sectors;
    std::array<std::byte, kSectorBytes> m_boot{};
    std::array<std::byte, kSectorBytes> m_info{};
};

struct Size {
    std::uint64_t sectors;
    FormatType asked;
    FatType type;
    std::uint32_t sectors_per_cluster;
    std::uint32_t fat_sectors;
};

// The first and the last size of each row of the specification's two tables.
TEST(FatFormat, TheSizeDecidesTypeClustersAndTable) {
    using enum FormatType;
    for (const Size& size : {Size{4'150, by_size, FatType::fat16, 1, 16},
                             Size{8'400, by_size, FatType::fat16, 1, 33},
                             Size{8'401, by_size, FatType::fat16, 2, 17},
                             Size{32'680, by_size, FatType::fat16, 2, 64},
                             Size{32'681, by_size, FatType::fat16, 4, 32},
                             Size{262'144, by_size, FatType::fat16, 4, 256},
                             Size{262'145, by_size, FatType::fat16, 8, 128},
                             Size{524'288, by_size, FatType::fat16, 8, 256},
                             Size{524'289, by_size, FatType::fat16, 16, 128},
                             Size{1'048'576, by_size, FatType::fat16, 16, 256},
                             Size{1'048'576, fat16, FatType::fat16, 16, 256},
                             Size{1'048'577, by_size, FatType::fat32, 8, 1'023},
                             Size{66'589, fat32, FatType::fat32, 1, 516},
                             Size{532'480, fat32, FatType::fat32, 1, 4'128},
                             Size{532'481, fat32, FatType::fat32, 8, 520},
                             Size{16'777'216, by_size, FatType::fat32, 8, 16'368},
                             Size{16'777'217, by_size, FatType::fat32, 16, 8'188},
                             Size{33'554'432, by_size, FatType::fat32, 16, 16'376},
                             Size{33'554'433, by_size, FatType::fat32, 32, 8'190},
                             Size{67'108'864, by_size, FatType::fat32, 32, 16'380},
                             Size{67'108'865, by_size, FatType::fat32, 64, 8'191},
                             Size{0xFFFF'FFFF, by_size, FatType::fat32, 64, 524'225}}) {
        HugeDisk disk(size.sectors);
        ASSERT_TRUE(format(disk, {.type = size.asked})) << size.sectors;
        const Geometry geometry = disk.geometry();
        EXPECT_EQ(geometry.type, size.type) << size.sectors;
        EXPECT_EQ(geometry.total_sectors, size.sectors);
        EXPECT_EQ(geometry.sectors_per_cluster, size.sectors_per_cluster) << size.sectors;
        EXPECT_EQ(geometry.fat_sectors, size.fat_sectors) << size.sectors;
        if (size.type == FatType::fat32) {
            EXPECT_EQ(disk.free_hint(), geometry.cluster_count - 1) << "all but the root directory's";
        }
    }
}

TEST(FatFormat, RefusesASizeThatTheTypeCannotHave) {
    const auto error_of = [](std::uint64_t sectors, FormatType type) {
        HugeDisk disk(sectors);
        return format(disk, {.type = type}).error();
    };
    EXPECT_EQ(error_of(1'048'577, FormatType::fat16), lib::Error::unsupported);
    EXPECT_EQ(error_of(0x1'0000'0000, FormatType::by_size), lib::Error::unsupported);
    EXPECT_EQ(error_of(0x1'0000'0000, FormatType::fat32), lib::Error::unsupported);
    EXPECT_EQ(error_of(4'149, FormatType::by_size), lib::Error::no_space);
    EXPECT_EQ(error_of(66'588, FormatType::fat32), lib::Error::no_space);
    for (std::uint64_t sectors = 0; sectors < 100; ++sectors) { // no space for a table, or for data after it
        EXPECT_EQ(error_of(sectors, FormatType::fat16), lib::Error::no_space) << sectors;
        EXPECT_EQ(error_of(sectors, FormatType::fat32), lib::Error::no_space) << sectors;
    }
}

} // namespace format_test
} // namespace drivers::fat
