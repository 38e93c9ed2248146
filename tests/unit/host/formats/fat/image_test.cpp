// SPDX-License-Identifier: MIT
// Images of FAT volumes as traces, against volumes that mtools made.
#include "tests/support/host_command.hpp"
#include "tests/support/reading_test.hpp"

#include <gmock/gmock.h>

namespace host::trace {

namespace {

using support::Bytes;
using testing::HasSubstr;

class FatImage : public support::ReadingTest {
  protected:
    // A volume with the given files of events; `format`: options of mformat.
    Bytes image(const std::string& format, std::initializer_list<std::string> names, unsigned events = 100) {
        const std::string path = m_directory / "volume.img";
        std::string command = "rm -f " + path + " && mformat -C -i " + path + " " + format + " ::";
        std::uint64_t ticks = 1000;
        for (const std::string& name : names) {
            support::ChunkBuilder chunk(static_cast<std::uint16_t>(ticks)); // no two of the same number
            for (unsigned i = 0; i < events; ++i) {
                chunk.event(ticks++, "user_event_0", static_cast<std::uint16_t>(i));
            }
            m_directory.write("file", chunk.bytes());
            const std::string copy =
                std::exchange(command, "") + " && mcopy -o -i " + path + " " + (m_directory / "file") + " ::" + name;
            run(copy.starts_with(" && ") ? copy.substr(4) : copy);
        }
        if (!command.empty()) {
            run(command);
        }
        return test::read_file(path);
    }

    static void run(const std::string& command) {
        const auto outcome = test::run_command(command);
        ASSERT_EQ(outcome.exit_code, 0) << command << outcome.output;
    }
};

TEST_F(FatImage, AllThreeWidthsAreRead) {
    for (const std::string format : {"-f 1440", "-T 40000 -h 16 -s 32 -c 4", "-T 80000 -h 16 -s 32 -F -c 1"}) {
        EXPECT_EQ(read(image(format, {"0TRACE.DAT", "1trace.dat", "NOTE.TXT"})), 200U) << format;
        EXPECT_EQ(m_lines, "") << format;
    }
}

TEST_F(FatImage, LongNamesAreRead) {
    EXPECT_EQ(read(image("-f 1440", {"1000trace.dat", "123456789trace.dat", "01trace.dat", "1234567890trace.dat"})),
              200U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(FatImage, APartitionIsFound) {
    const Bytes volume = image("-f 1440", {"0trace.dat"});
    Bytes disk(63 * 512);
    disk[450] = std::byte{0x01};
    disk[446] = std::byte{0x80};
    disk[454] = std::byte{63};
    disk[458] = std::byte{0x40};
    disk[459] = std::byte{0x0B};
    disk[510] = std::byte{0x55};
    disk[511] = std::byte{0xAA};
    disk.insert(disk.end(), volume.begin(), volume.end());
    EXPECT_EQ(read(disk), 100U) << m_lines;
}

TEST_F(FatImage, AVolumeWithoutTracesIsAnError) {
    EXPECT_EQ(read(image("-f 1440", {"NOTE.TXT"})), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-EMPTY the root directory has no file Ntrace.dat"));
    EXPECT_EQ(m_diagnostics->exit_status(false), ExitStatus::nothing);
}

TEST_F(FatImage, AChainThatComesBackIsFound) {
    Bytes bytes = image("-f 1440", {"0trace.dat"}, 300);
    // The first table begins in sector 1; the file has clusters 2, 3, ...: 3 leads back to 2 (twelve bits each).
    bytes[512 + 4] = (bytes[512 + 4] & std::byte{0x0F}) | std::byte{0x20};
    bytes[512 + 5] = std::byte{0};
    EXPECT_LT(read(bytes), 300U);
    EXPECT_THAT(m_lines, HasSubstr("E-FAT 0TRACE.DAT: its chain of clusters comes back to 2")) << m_lines;
}

// Found at the first cluster that comes again, not after a few rounds: nothing of the file is read twice.
TEST_F(FatImage, AClusterThatLeadsToItselfIsReadOnce) {
    Bytes bytes = image("-f 1440", {"0trace.dat"}, 50); // clusters 2, 3 and a part of 4
    bytes[512 + 4] = (bytes[512 + 4] & std::byte{0x0F}) | std::byte{0x30};
    bytes[512 + 5] = std::byte{0};
    const std::size_t events = read(bytes);
    EXPECT_THAT(m_lines, HasSubstr("E-FAT 0TRACE.DAT: its chain of clusters comes back to 3")) << m_lines;
    EXPECT_THAT(m_lines, testing::Not(HasSubstr("W-TIME")));
    EXPECT_LT(events, 50U);
}

TEST_F(FatImage, AChainThatLeavesTheVolumeIsFound) {
    Bytes bytes = image("-f 1440", {"0trace.dat"}, 300);
    bytes[512 + 3] = std::byte{0xF0};
    bytes[512 + 4] = std::byte{0xFE};
    EXPECT_LT(read(bytes), 300U);
    EXPECT_THAT(m_lines, HasSubstr("E-FAT")) << m_lines;
}

TEST_F(FatImage, EveryTruncationIsSurvivedAndReported) {
    const Bytes bytes = image("-f 160", {"0trace.dat"}, 200);
    std::size_t before = 0;
    for (std::size_t size = 0; size < 12'000; size += size < 2048 ? 31 : 16) {
        const std::size_t events =
            read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, InputKind::fat);
        EXPECT_GE(events, before) << size;
        before = events;
        if (events < 200) {
            EXPECT_TRUE(m_diagnostics->damaged()) << size;
        }
    }
    EXPECT_EQ(before, 200U);
}

} // namespace

} // namespace host::trace
