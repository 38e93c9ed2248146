// SPDX-License-Identifier: MIT
// Tests the RAM disk's bounds and copies, on both media.
#include "drivers/ramdisk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace drivers {
namespace {

constexpr std::size_t kSectors = 4;

class RamDiskTest : public testing::TestWithParam<Medium> {
  protected:
    RamDiskTest()
        : memory(kSectors * kSectorBytes + 100)
        , disk(memory, GetParam()) {}

    std::vector<std::byte> memory;
    RamDisk disk;
};

INSTANTIATE_TEST_SUITE_P(Media, RamDiskTest, testing::Values(Medium::volatile_memory, Medium::persistent_memory));

TEST_P(RamDiskTest, DoesNotUseATailShorterThanASector) {
    EXPECT_EQ(disk.sector_count(), kSectors);
}

TEST_P(RamDiskTest, ReturnsWhatWasWrittenAndTouchesNothingElse) {
    const std::vector<std::byte> two_sectors(2 * kSectorBytes, std::byte{0xA5});
    ASSERT_TRUE(disk.write(1, two_sectors));
    ASSERT_TRUE(disk.flush());
    std::vector<std::byte> back(2 * kSectorBytes);
    ASSERT_TRUE(disk.read(1, back));
    EXPECT_EQ(back, two_sectors);
    EXPECT_EQ(memory[kSectorBytes - 1], std::byte{0});
    EXPECT_EQ(memory[3 * kSectorBytes], std::byte{0});
}

TEST_P(RamDiskTest, ReachesTheLastSectorAndNotOneFurther) {
    std::vector<std::byte> sector(kSectorBytes, std::byte{1});
    EXPECT_TRUE(disk.write(kSectors - 1, sector));
    EXPECT_TRUE(disk.read(kSectors - 1, sector));
    EXPECT_EQ(disk.write(kSectors, sector).error(), lib::Error::invalid_argument);
    EXPECT_EQ(disk.read(kSectors, sector).error(), lib::Error::invalid_argument);
}

TEST_P(RamDiskTest, WritesNothingOfARangeThatDoesNotFit) {
    const std::vector<std::byte> two_sectors(2 * kSectorBytes, std::byte{1});
    EXPECT_EQ(disk.write(kSectors - 1, two_sectors).error(), lib::Error::invalid_argument);
    EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{0}; }));
}

// Where each call of the flush begins, how long it is, and whether the sector after it was still as before.
struct Flush {
    std::ptrdiff_t at;
    std::size_t bytes;
    bool next_unwritten;

    friend bool operator==(const Flush&, const Flush&) = default;
};

std::vector<std::byte> flushed_memory(kSectors* kSectorBytes);
std::vector<Flush> flushes;

void note_flush(std::span<std::byte> written) {
    flushes.push_back(
        {written.data() - flushed_memory.data(), written.size(), flushed_memory[3 * kSectorBytes] == std::byte{0}});
}

TEST(RamDisk, FlushesEachSectorOfPersistentMemoryBeforeTheNextIsWritten) {
    for (const Medium medium : {Medium::persistent_memory, Medium::volatile_memory}) {
        std::ranges::fill(flushed_memory, std::byte{0});
        flushes.clear();
        RamDisk disk(flushed_memory, medium, &note_flush);
        ASSERT_TRUE(disk.write(1, std::vector<std::byte>(3 * kSectorBytes, std::byte{1})));
        const std::vector<Flush> expected{{512, 512, true}, {1024, 512, true}, {1536, 512, false}};
        EXPECT_EQ(flushes, medium == Medium::persistent_memory ? expected : std::vector<Flush>{});
    }
}

// A module that is read-only or absent drops the line that leaves the cache: the next read finds what was there before.
TEST(RamDisk, FailsIfPersistentMemoryDoesNotKeepASector) {
    std::vector<std::byte> memory(kSectors * kSectorBytes);
    RamDisk disk(memory, Medium::persistent_memory,
                 [](std::span<std::byte> written) { written.back() = std::byte{0}; });
    EXPECT_TRUE(disk.write(0, std::vector<std::byte>(kSectorBytes)));
    EXPECT_EQ(disk.write(1, std::vector<std::byte>(kSectorBytes, std::byte{1})).error(), lib::Error::io);
}

TEST_P(RamDiskTest, RefusesSectorNumbersThatWouldWrap) {
    std::vector<std::byte> sector(kSectorBytes);
    for (const std::uint64_t wild : {std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 55}) {
        EXPECT_EQ(disk.read(wild, sector).error(), lib::Error::invalid_argument) << wild;
    }
}

TEST_P(RamDiskTest, RefusesAnythingButWholeSectors) {
    std::vector<std::byte> bytes(kSectorBytes + 1);
    EXPECT_EQ(disk.read(0, bytes).error(), lib::Error::invalid_argument);
    EXPECT_EQ(disk.read(0, std::span(bytes).first(kSectorBytes - 1)).error(), lib::Error::invalid_argument);
    EXPECT_EQ(disk.write(0, {}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(disk.write(0, bytes).error(), lib::Error::invalid_argument);
}

TEST_P(RamDiskTest, ReadsFromTheSectorThatWasAskedFor) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<std::byte>(i / kSectorBytes + 1);
    }
    std::vector<std::byte> all(kSectors * kSectorBytes);
    ASSERT_TRUE(disk.read(0, all));
    EXPECT_TRUE(std::equal(all.begin(), all.end(), memory.begin()));
    std::vector<std::byte> one(kSectorBytes);
    ASSERT_TRUE(disk.read(2, one));
    EXPECT_EQ(one, std::vector<std::byte>(kSectorBytes, std::byte{3}));
}

TEST(RamDisk, HasNoSectorsBeforeMemoryIsAttached) {
    RamDisk disk;
    std::vector<std::byte> sector(kSectorBytes);
    EXPECT_EQ(disk.sector_count(), 0U);
    EXPECT_EQ(disk.read(0, sector).error(), lib::Error::invalid_argument);
    disk.attach(sector, Medium::volatile_memory);
    EXPECT_EQ(disk.sector_count(), 1U);
}

} // namespace
} // namespace drivers
