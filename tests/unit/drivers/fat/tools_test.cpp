// SPDX-License-Identifier: MIT
// Tests the driver against common programs: fsck.fat and mkfs.fat (dosfstools), mformat, mcopy and mdir (mtools).
// Images are exchanged through a scratch directory; contents are compared byte for byte, in both directions.
#include "lib/endian.hpp"
#include "tests/support/fat_volumes.hpp"
#include "tests/support/host_command.hpp"

#include <gmock/gmock.h>

namespace drivers::fat {
namespace tools_test {

using namespace test;
using testing::HasSubstr;
using testing::Not;

class FatToolsTest : public testing::Test {
  protected:
    // -n reports changes without making them; -V checks once more.
    CommandOutcome fsck(const FakeDisk& disk) {
        test::write_file(image, disk.image());
        return run_command("fsck.fat -n -v -V " + image.string());
    }

    void expect_clean(const FakeDisk& disk) {
        const CommandOutcome outcome = fsck(disk);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
        for (const char* const complaint :
             {"differ", "wrong", "uninitialized", "Orphan", "orphan", "Reclaim", "Dirty", "bad", "Bad", "invalid"}) {
            EXPECT_THAT(outcome.output, Not(HasSubstr(complaint)));
        }
    }

    void expect_file(const std::string& name, const Bytes& contents, const std::string& offset = "") {
        const std::string copy = (scratch / "copy").string();
        const CommandOutcome outcome =
            run_command("mcopy -n -o -i " + image.string() + offset + " ::" + name + " " + copy);
        ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
        EXPECT_EQ(test::read_file(copy), contents) << name;
    }

    void run_ok(const std::string& command) {
        const CommandOutcome outcome = run_command(command);
        ASSERT_EQ(outcome.exit_code, 0) << command << "\n" << outcome.output;
    }

    // Makes the image with a host tool and returns its contents.
    FakeDisk made_by(const std::string& command, std::uint64_t kibibytes) {
        run_ok("truncate -s " + std::to_string(kibibytes) + "K " + image.string());
        run_ok(command + " " + image.string());
        return FakeDisk(test::read_file(image));
    }

    test::ScratchDirectory scratch;
    const std::filesystem::path image = scratch / "disk.img";
};

struct Size {
    std::uint64_t sectors;
    FormatType type;
};

class FatToolsFormatTest : public FatToolsTest, public testing::WithParamInterface<Size> {};

INSTANTIATE_TEST_SUITE_P(Sizes, FatToolsFormatTest,
                         testing::Values(Size{4'150, FormatType::by_size},   // smallest FAT16
                                         Size{8'400, FormatType::by_size},   // last size with one sector a cluster
                                         Size{8'401, FormatType::by_size},   // first with two
                                         Size{16'384, FormatType::by_size},  // the 8 MiB of a default run
                                         Size{65'535, FormatType::by_size},  // largest 16-bit total
                                         Size{65'536, FormatType::by_size},  // smallest 32-bit total
                                         Size{262'145, FormatType::by_size}, // clusters of 8 sectors
                                         Size{66'589, FormatType::fat32},    // smallest FAT32
                                         Size{100'001, FormatType::fat32}));

TEST_P(FatToolsFormatTest, AFreshVolumeWithFilesIsCleanAndReadable) {
    FakeDisk disk(GetParam().sectors);
    ASSERT_TRUE(format(disk, {.label = "trace disk", .type = GetParam().type}));
    expect_clean(disk);
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    const Bytes files[] = {pattern(200'000, 1), pattern(1, 2), {}, pattern(16 * 5'000, 3)};
    const std::string names[] = {"0trace.dat", "1trace.dat", "2TRACE.DAT", "99trace.dat"};
    for (std::size_t i = 0; i < std::size(files); ++i) {
        ASSERT_TRUE(add_file(volume, names[i], files[i]));
    }
    expect_clean(disk);
    for (std::size_t i = 0; i < std::size(files); ++i) {
        expect_file(names[i], files[i]);
    }
    const CommandOutcome listing = run_command("mdir -i " + image.string() + " ::");
    EXPECT_EQ(listing.exit_code, 0);
    EXPECT_THAT(listing.output, HasSubstr("TRACE DISK"));
    EXPECT_THAT(listing.output, HasSubstr("0trace   dat    200000")); // lower case, as it was given
    EXPECT_THAT(listing.output, HasSubstr("2TRACE   DAT"));
    EXPECT_THAT(listing.output, HasSubstr("1980-01-01"));
    EXPECT_THAT(listing.output, HasSubstr("4 files"));
}

TEST_F(FatToolsTest, TheSmallestVolumesAreExactlyWhereTheTypesBegin) {
    for (const Size& size : {Size{66'588, FormatType::fat32}, Size{4'149, FormatType::fat16}}) {
        FakeDisk disk(size.sectors);
        EXPECT_EQ(format(disk, {.type = size.type}).error(), lib::Error::no_space) << size.sectors;
    }
}

struct Maker {
    const char* name;
    const char* command;
    std::uint64_t kibibytes;
};

class FatToolsForeignTest : public FatToolsTest, public testing::WithParamInterface<Maker> {};

INSTANTIATE_TEST_SUITE_P(Makers, FatToolsForeignTest,
                         testing::Values(Maker{"mkfs16", "mkfs.fat -F 16 -n HOST", 16'384},
                                         Maker{"mkfs16s1", "mkfs.fat -F 16 -s 1", 4'096},
                                         Maker{"mkfs16one", "mkfs.fat -F 16 -s 2 -f 1 -r 64", 8'192},
                                         Maker{"mkfs32", "mkfs.fat -F 32 -s 1", 40'960},
                                         Maker{"mkfs32r", "mkfs.fat -F 32 -s 1 -f 1 -R 8", 40'960},
                                         Maker{"mformat16", "mformat -v HOST -T 16384 -h 16 -s 32 -c 2 -i", 8'192},
                                         Maker{"mformat32", "mformat -F -T 81920 -h 16 -s 32 -c 1 -i", 40'960}),
                         [](const auto& maker) { return std::string(maker.param.name); });

TEST_P(FatToolsForeignTest, KeepsWhatIsThereAndAddsItsOwn) {
    FakeDisk made = made_by(GetParam().command, GetParam().kibibytes);
    const Bytes theirs = pattern(30'000, 1);
    test::write_file(scratch / "theirs", theirs);
    const std::string into = "mcopy -n -i " + image.string() + " " + (scratch / "theirs").string() + " ";
    run_ok("mmd -i " + image.string() + " ::SUBDIR");
    run_ok(into + "::SHORT.TXT");
    run_ok(into + "'::A long name with spaces.text'");
    run_ok(into + "::SUBDIR/INSIDE.TXT");
    run_ok("mdel -i " + image.string() + " ::SHORT.TXT"); // a gap in the table and in the directory
    run_ok(into + "::SECOND.TXT");

    FakeDisk disk(test::read_file(image));
    Volume volume;
    ASSERT_TRUE(volume.mount(disk)) << defect_text(volume.defect());
    const FileInfo second = volume.find("second.txt").value();
    Bytes back(second.size_bytes);
    ASSERT_TRUE(volume.read(second, 0, back));
    EXPECT_EQ(back, theirs);
    EXPECT_EQ(add_file(volume, "SECOND.TXT", {}).error(), lib::Error::exists);
    EXPECT_EQ(add_file(volume, "SUBDIR", {}).error(), lib::Error::exists);
    EXPECT_EQ(volume.find("subdir").error(), lib::Error::invalid_argument);

    const Bytes ours = pattern(100'000, 2);
    for (unsigned i = 0; i < 30; ++i) {
        ASSERT_TRUE(add_file(volume, std::to_string(i) + "trace.dat", i % 7 == 0 ? ours : Bytes{}));
    }
    expect_clean(disk);
    expect_file("28trace.dat", ours);
    expect_file("SECOND.TXT", theirs);
    expect_file("'A long name with spaces.text'", theirs);
    expect_file("SUBDIR/INSIDE.TXT", theirs);
}

TEST_F(FatToolsTest, RefusesFat12AsMkfsMakesIt) {
    FakeDisk disk = made_by("mkfs.fat -F 12", 1'440);
    Volume volume;
    EXPECT_EQ(volume.mount(disk).error(), lib::Error::unsupported);
    EXPECT_EQ(volume.defect(), Defect::fat12);
}

TEST_F(FatToolsTest, RefusesSectorsOf4096Bytes) {
    FakeDisk disk = made_by("mkfs.fat -F 16 -S 4096 -s 1", 40'960);
    Volume volume;
    EXPECT_EQ(volume.mount(disk).error(), lib::Error::unsupported);
    EXPECT_EQ(volume.defect(), Defect::sector_size);
}

TEST_F(FatToolsTest, WritesIntoAPartition) {
    FakeDisk made = made_by("mkfs.fat -F 16 -s 2", 8'192);
    Bytes whole(1024 * 1024);
    lib::store_le(std::span(whole).subspan(446 + 4), std::uint8_t{0x0E});
    lib::store_le(std::span(whole).subspan(446 + 8), std::uint32_t{2048});
    lib::store_le(std::span(whole).subspan(446 + 12), std::uint32_t{16'384});
    lib::store_le(std::span(whole).subspan(510), std::uint16_t{0xAA55});
    const Bytes table(whole.begin(), whole.end());
    whole.insert(whole.end(), made.image().begin(), made.image().end());
    FakeDisk disk(whole);
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    const Bytes bytes = pattern(50'000, 1);
    ASSERT_TRUE(add_file(volume, "0trace.dat", bytes));
    test::write_file(image, disk.image());
    expect_file("0trace.dat", bytes, "@@1M");
    EXPECT_TRUE(std::equal(table.begin(), table.end(), disk.image().begin())); // nothing outside the partition
    expect_clean(FakeDisk(Bytes(disk.image().begin() + 1024 * 1024, disk.image().end())));
}

TEST_F(FatToolsTest, AVolumeFilledToItsLastClusterIsClean) {
    for (const Size& size : {Size{4'200, FormatType::fat16}, Size{66'592, FormatType::fat32}}) {
        FakeDisk disk(size.sectors);
        ASSERT_TRUE(format(disk, {.type = size.type}));
        Volume volume;
        ASSERT_TRUE(volume.mount(disk));
        const std::uint64_t free = volume.free_bytes().value();
        const Bytes half = pattern(free / 2, 1);
        ASSERT_TRUE(add_file(volume, "half", half));
        FileWriter writer(volume);
        ASSERT_TRUE(writer.create({.name = "toolarge"}));
        ASSERT_EQ(writer.append(pattern(free, 2)).error(), lib::Error::no_space);
        expect_clean(disk);
        const Bytes rest = pattern(volume.free_bytes().value(), 3);
        ASSERT_TRUE(add_file(volume, "rest", rest));
        EXPECT_EQ(volume.free_bytes().value(), 0U);
        expect_clean(disk);
        expect_file("half", half);
        expect_file("rest", rest);
        EXPECT_THAT(run_command("mdir -i " + image.string() + " ::").output, HasSubstr("0 bytes free"));
    }
}

TEST_F(FatToolsTest, AFullRootDirectoryIsClean) {
    FakeDisk disk = made_by("mkfs.fat -F 16 -s 2 -r 64", 8'192);
    Volume volume;
    ASSERT_TRUE(volume.mount(disk));
    for (unsigned i = 0; i < 64; ++i) {
        ASSERT_TRUE(add_file(volume, std::to_string(i), pattern(10, i)));
    }
    EXPECT_EQ(add_file(volume, "64", {}).error(), lib::Error::no_space);
    expect_clean(disk);
    expect_file("63", pattern(10, 63));
}

// The tool's verdict on cut images; tests/unit/drivers/fat/writer_test.cpp checks every one of them.
TEST_F(FatToolsTest, FsckFindsOnlyLostClustersAfterACut) {
    for (const Size& size : {Size{4'200, FormatType::fat16}, Size{66'592, FormatType::fat32}}) {
        FakeDisk disk(size.sectors);
        ASSERT_TRUE(format(disk, {.type = size.type}));
        Bytes cut = disk.image();
        Volume volume;
        ASSERT_TRUE(volume.mount(disk));
        disk.record_journal();
        ASSERT_TRUE(add_file(volume, "0trace.dat", pattern(30'000, 1)));
        for (std::size_t writes = 0; writes < disk.journal().size(); ++writes) {
            if (writes % 4 == 0) {
                const CommandOutcome outcome = fsck(FakeDisk(cut));
                for (const char* const damage : {"shares clusters", "Bad", "beyond", "starts with", "Contains a free",
                                                 "Cluster chain length", "Truncating", "Renaming"}) {
                    ASSERT_THAT(outcome.output, Not(HasSubstr(damage))) << "cut after " << writes;
                }
            }
            FakeDisk::apply(disk.journal()[writes], cut);
        }
    }
}

} // namespace tools_test
} // namespace drivers::fat
