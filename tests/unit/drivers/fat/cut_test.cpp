// SPDX-License-Identifier: MIT
// Tests the state after every failing or missing sector write: tests the argument in drivers/fat/volume.hpp. The images
// are checked by tests/support/fat_checker, which shares no code with the driver.
#include "tests/support/fat_volumes.hpp"

#include <algorithm>
#include <string_view>

namespace drivers::fat {
namespace cut_test {

using namespace test;

class FatCutTest : public testing::TestWithParam<Flavour> {
  protected:
    // One file exists already; there are so many entries that FAT32's root directory must grow in the scenario, and the
    // table's window must move (256 or 128 entries per sector).
    FatCutTest() {
        FakeDisk disk(formatted(GetParam()));
        Volume volume;
        EXPECT_TRUE(volume.mount(disk));
        // Free clusters are not blank: interpreted as a directory, they would be full of files.
        const std::size_t first_free = volume.geometry().first_sector(kFirstCluster + 1) * kSectorBytes;
        std::fill(disk.image().begin() + static_cast<std::ptrdiff_t>(first_free), disk.image().end(), std::byte{'A'});
        EXPECT_TRUE(add_file(volume, "old", old));
        for (unsigned i = 0; i < 13; ++i) {
            EXPECT_TRUE(add_file(volume, std::to_string(i), {}));
        }
        start = disk.image();
    }

    // Three files, one of them abandoned. Stops at the first failure.
    static bool scenario(Volume& volume, const Bytes& first, const Bytes& second) {
        FileWriter writer(volume);
        if (!add_file(volume, "first.dat", first, 3'000) || !writer.create({.name = "given.up"}) ||
            !writer.append(second) || !writer.abandon()) {
            return false;
        }
        return add_file(volume, "second.dat", second, 70'000).ok();
    }

    static void expect_no_damage(const Bytes& image, const Bytes& old, const Bytes& first, const Bytes& second) {
        for (const std::uint32_t copy : {0U, 1U}) {
            const FatReport report = check_fat(image, copy);
            ASSERT_TRUE(report.damage.empty()) << "copy " << copy << ": " << report.text();
            ASSERT_TRUE(report.hint_right);
            ASSERT_EQ(report.files.at("OLD        "), old);
            const auto whole_or_absent = [&report](const char* name, const Bytes& contents) {
                const auto file = report.files.find(name);
                return file == report.files.end() || file->second == contents;
            };
            ASSERT_TRUE(whole_or_absent("FIRST   DAT", first));
            ASSERT_TRUE(whole_or_absent("SECOND  DAT", second));
            ASSERT_FALSE(report.files.contains("GIVEN   UP "));
        }
    }

    Bytes start;
    const Bytes old = pattern(9'000, 7);
    const Bytes first = pattern(20'000, 8);
    // Long enough to cross from one sector of the table to the next.
    const Bytes second = pattern(GetParam().type == FormatType::fat16 ? 140'000 : 70'000, 9);
};

INSTANTIATE_TEST_SUITE_P(Types, FatCutTest, testing::Values(kFat16, kFat32));

TEST_P(FatCutTest, ACutAfterAnySectorWriteLeavesAtMostLostClusters) {
    FakeDisk disk(start);
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    disk.record_journal();
    ASSERT_TRUE(scenario(volume, first, second));
    const FatReport finished = check_fat(disk.image());
    expect_clean(finished);
    ASSERT_EQ(finished.files.at("FIRST   DAT"), first);
    ASSERT_EQ(finished.files.at("SECOND  DAT"), second);

    ASSERT_GT(disk.journal().size(), 250U);
    Bytes image = start;
    for (std::size_t writes = 0; writes < disk.journal().size(); ++writes) {
        ASSERT_NO_FATAL_FAILURE(expect_no_damage(image, old, first, second)) << "cut after " << writes;
        if (writes % 16 == 0) { // the next user continues normally
            FakeDisk reopened(image);
            Volume next;
            ASSERT_TRUE(next.mount(reopened));
            ASSERT_TRUE(add_file(next, "later", second));
            const FatReport later = check_fat(reopened.image());
            ASSERT_TRUE(later.damage.empty()) << "cut after " << writes << ": " << later.text();
            ASSERT_EQ(later.files.at("LATER      "), second);
        }
        FakeDisk::apply(disk.journal()[writes], image);
    }
    EXPECT_EQ(image, disk.image());
}

// A disk with a cache of its own may write later what was not flushed: the data of a file comes before its entry.
TEST_P(FatCutTest, AFileIsFlushedBeforeItsEntryAndItsEntryAfterwards) {
    FakeDisk disk(start);
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    disk.record_journal();
    ASSERT_TRUE(scenario(volume, first, second));
    for (const std::string_view name : {"FIRST   DAT", "SECOND  DAT"}) {
        const auto entry = std::ranges::find_if(disk.journal(), [name](const FakeDisk::SectorWrite& write) {
            const std::string_view text(reinterpret_cast<const char*>(write.bytes.data()), write.bytes.size());
            return text.find(name) != std::string_view::npos;
        });
        ASSERT_NE(entry, disk.journal().end()) << name;
        const auto before = static_cast<std::size_t>(entry - disk.journal().begin());
        EXPECT_EQ(std::ranges::count(disk.flushes(), before), 1) << name << ", write " << before;
    }
    EXPECT_EQ(disk.flushes().size(), 5U) << "two of each file, and one of the file that was given up";
    EXPECT_EQ(disk.flushes().back(), disk.journal().size());
}

TEST_P(FatCutTest, AnyFailingWriteIsReportedAndHarmless) {
    for (const auto failure : {FakeDisk::Failure::once, FakeDisk::Failure::permanently}) {
        FakeDisk disk(start);
        disk.record_journal();
        for (std::uint64_t index = 0;; ++index) {
            disk.rewind();
            Volume volume;
            ASSERT_TRUE(volume.mount(disk));
            disk.fail_write(index, failure);
            if (scenario(volume, first, second)) {
                ASSERT_TRUE(disk.fault_pending()) << "write " << index << " failed without an error";
                ASSERT_GT(index, 250U);
                break;
            }
            disk.heal();
            ASSERT_NO_FATAL_FAILURE(expect_no_damage(disk.image(), old, first, second)) << "write " << index;
            // The same volume object continues to work.
            ASSERT_TRUE(add_file(volume, "later", first)) << "write " << index;
            const FatReport later = check_fat(disk.image());
            ASSERT_TRUE(later.damage.empty() && later.hint_right) << "write " << index << ": " << later.text();
            ASSERT_EQ(later.files.at("LATER      "), first);
        }
    }
}

TEST_P(FatCutTest, AnyFailingReadIsReportedAndHarmless) {
    FakeDisk disk(start);
    disk.record_journal();
    for (std::uint64_t index = 0;; ++index) {
        disk.rewind();
        Volume volume;
        ASSERT_TRUE(volume.mount(disk));
        disk.fail_read(index, FakeDisk::Failure::once);
        if (scenario(volume, first, second)) {
            ASSERT_TRUE(disk.fault_pending()) << "read " << index << " failed without an error";
            break;
        }
        ASSERT_NO_FATAL_FAILURE(expect_no_damage(disk.image(), old, first, second)) << "read " << index;
    }
}

} // namespace cut_test
} // namespace drivers::fat
