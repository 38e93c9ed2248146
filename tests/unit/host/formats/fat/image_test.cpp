// SPDX-License-Identifier: MIT
// Tests images of FAT volumes as traces, against volumes that mtools made.
#include "tests/support/host_command.hpp"
#include "tests/support/reading_test.hpp"

#include <gmock/gmock.h>

namespace host::trace::image_test {

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

// The second cluster of a file, moved to where its number needs more than 16 bits.
TEST_F(FatImage, AChainOfAWideTableHasAllBitsOfItsNumbers) {
    constexpr std::size_t kSector = 512;
    constexpr std::uint32_t kFar = 70'000;
    Bytes bytes = image("-T 80000 -h 16 -s 32 -F -c 1", {"0trace.dat"});
    const auto at = [&bytes](std::size_t place) { return std::span(bytes).subspan(place); };
    const std::size_t table = kSector * lib::load_le<std::uint16_t>(at(14));
    const std::size_t data = table + 2 * kSector * lib::load_le<std::uint32_t>(at(36));
    const std::size_t root = data + (lib::load_le<std::uint32_t>(at(44)) - 2) * kSector;
    const auto first = lib::load_le<std::uint16_t>(at(root + 26)) != 0
                           ? std::uint32_t{lib::load_le<std::uint16_t>(at(root + 26))}
                           : std::uint32_t{lib::load_le<std::uint16_t>(at(root + 32 + 26))};
    const auto second = lib::load_le<std::uint32_t>(at(table + 4 * first));
    std::copy_n(at(data + (second - 2) * kSector).begin(), kSector, at(data + (kFar - 2) * kSector).begin());
    std::ranges::fill(at(data + (second - 2) * kSector).first(kSector), std::byte{0});
    lib::store_le(at(table + 4 * kFar), lib::load_le<std::uint32_t>(at(table + 4 * second)));
    lib::store_le(at(table + 4 * first), kFar);
    EXPECT_EQ(read(bytes), 100U) << m_lines;
    EXPECT_EQ(m_lines, "");
}

TEST_F(FatImage, AGeometryThatNoVolumeHasIsRefused) {
    struct Row {
        std::vector<std::pair<std::size_t, unsigned>> bytes; // place and value
        std::string line;
    };

    const Bytes volume = image("-f 1440", {"0trace.dat"});
    const std::vector<Row> rows = {
        {{{12, 0x20}}, ":0xb E-FAT a sector cannot have 8192 bytes\n"},
        {{{12, 0x01}}, ":0xb E-FAT a sector cannot have 256 bytes\n"},
        {{{12, 0x03}}, ":0xb E-FAT a sector cannot have 768 bytes\n"},
        {{{13, 0}}, ":0xd E-FAT a cluster cannot have 0 sectors\n"},
        {{{13, 3}}, ":0xd E-FAT a cluster cannot have 3 sectors\n"},
        {{{14, 0}, {15, 0}},
         ":0xe E-FAT 0 reserved sectors, 2 tables of 9 sectors, 2880 sectors in all: none may be 0\n"},
        {{{16, 0}}, ":0xe E-FAT 1 reserved sectors, 0 tables of 9 sectors, 2880 sectors in all: none may be 0\n"},
        {{{22, 0}, {36, 0}, {37, 0}, {38, 0}, {39, 0}},
         ":0xe E-FAT 1 reserved sectors, 2 tables of 0 sectors, 2880 sectors in all: none may be 0\n"},
        {{{19, 0}, {20, 0}}, ":0xe E-FAT 1 reserved sectors, 2 tables of 9 sectors, 0 sectors in all: none may be 0\n"},
        {{{19, 33}, {20, 0}}, ":0x13 E-FAT 33 sectors have no room for 33 of tables\n"},
        {{{22, 8}}, ":0x16 E-FAT 2849 clusters, but a table for 2730\n"},
    };
    for (const Row& row : rows) {
        Bytes bytes = volume;
        for (const auto& [at, value] : row.bytes) {
            bytes[at] = static_cast<std::byte>(value);
        }
        EXPECT_EQ(read(bytes, InputKind::fat), 0U);
        EXPECT_EQ(m_lines, (m_directory / "input") + row.line);
    }
    Bytes bytes = volume;
    bytes[12] = std::byte{0x10}; // 4096, the most
    static_cast<void>(read(bytes, InputKind::fat));
    EXPECT_THAT(m_lines, testing::Not(HasSubstr("a sector cannot have")));
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

} // namespace host::trace::image_test
