// SPDX-License-Identifier: MIT
// Tests the frames of a capture file: each with its place, its link type and its bytes; the greatest and the least
// lengths that hold, and what is reported of those beyond them.
#include "host/formats/capture/capture.hpp"

#include "host/text/format.hpp"
#include "tests/support/capture_files.hpp"
#include "tests/support/memory_source.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace host::formats::capture::frame_source_test {

namespace {

using support::BigBytes;
using support::Bytes;
using support::Pcap;
using support::Pcapng;

struct Seen {
    std::uint64_t offset_bytes = 0;
    std::uint16_t link_type = 0;
    Bytes bytes{};

    friend bool operator==(const Seen&, const Seen&) = default;

    friend std::ostream& operator<<(std::ostream& out, const Seen& seen) {
        return out << "{at " << seen.offset_bytes << " link " << seen.link_type << " +" << seen.bytes.size() << "}";
    }
};

Bytes frame(std::size_t size, unsigned first = 1) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(first + i);
    }
    return bytes;
}

class Frames : public testing::Test {
  protected:
    std::vector<Seen> read(const Bytes& bytes) {
        m_lines.clear();
        trace::Diagnostics diagnostics([this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        FrameSource source({.name = "c", .bytes = support::source_of(bytes)}, diagnostics);
        std::vector<Seen> seen;
        for (Frame frame; source.next(frame);) {
            seen.push_back({frame.offset_bytes, frame.link_type, Bytes(frame.bytes.begin(), frame.bytes.end())});
        }
        Frame after;
        EXPECT_FALSE(source.next(after)) << "it has ended";
        return seen;
    }

    std::string m_lines;
};

TEST_F(Frames, OfAPcapFileHavePlaceLinkTypeAndBytes) {
    for (const bool big : {false, true}) {
        const Bytes bytes = Pcap(big, 0xA1B2C3D4, 113).add(frame(5)).raw(frame(3), 3, 1000).add(frame(4, 9)).bytes();
        EXPECT_EQ(read(bytes), (std::vector<Seen>{{24, 113, frame(5)}, {45, 113, frame(3)}, {64, 113, frame(4, 9)}}));
        EXPECT_EQ(m_lines, "");
    }
}

TEST_F(Frames, OfAPcapngFileHavePlaceLinkTypeAndBytes) {
    for (const bool big : {false, true}) {
        Pcapng file(big);
        file.interface(1).interface(276).add(frame(5), 1).simple(frame(4)).add(frame(8), 0);
        EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{68, 276, frame(5)}, {108, 1, frame(4)}, {128, 1, frame(8)}}));
        EXPECT_EQ(m_lines, "");
    }
}

// The obsolete block has the interface in two bytes, and a count of drops beside it.
TEST_F(Frames, OfAnObsoleteBlockAreRead) {
    Pcapng file;
    file.interface(101).block(
        2,
        BigBytes().put(0, 2, false).put(7, 2, false).put(0, 8).put(3, 4, false).put(3, 4, false).put(frame(3)).m_bytes);
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{48, 101, frame(3)}}));
    EXPECT_EQ(m_lines, "");
}

// A snapshot length cuts what a simple block holds, which has only the length of the packet.
TEST_F(Frames, OfASimpleBlockEndWithTheBlock) {
    Pcapng file;
    file.interface(1).block(3, BigBytes().put(1500, 4, false).put(frame(8)).m_bytes);
    file.block(3, BigBytes().put(6, 4, false).put(frame(8)).m_bytes);
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{48, 1, frame(8)}, {72, 1, frame(6)}}));
}

TEST_F(Frames, HaveALinkTypeOfTheirOwnSection) {
    Pcapng file;
    file.interface(1).add(frame(4)).section().add(frame(4)).interface(101).add(frame(8));
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{48, 1, frame(4)}, {168, 101, frame(8)}}));
    EXPECT_EQ(m_lines, "c:0x70 E-BLOCK the frame is of interface 0, but the section has 0: skipped\n");
}

TEST_F(Frames, OfTheGreatestSizeAreReadAndThoseBeyondSkipped) {
    const Bytes greatest = frame(FrameSource::kFrameBytesMax);
    const Bytes beyond = frame(FrameSource::kFrameBytesMax + 1);
    EXPECT_EQ(read(Pcap().add(greatest).add(beyond).add(frame(2)).bytes()),
              (std::vector<Seen>{{24, 1, greatest}, {131'127, 1, frame(2)}}));
    EXPECT_EQ(m_lines, "c:0x10027 E-PCAP 65536 bytes captured of a packet of 65536: skipped\n");
    Pcapng file;
    file.interface(1).add(greatest).add(beyond).add(frame(4));
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{48, 1, greatest}, {131'184, 1, frame(4)}}));
    EXPECT_EQ(m_lines,
              "c:0x10050 E-PCAP 65536 bytes captured of a packet of 65536, in a block with room for 65536: skipped\n");
}

TEST_F(Frames, OfNoByteAreLeftOutInSilence) {
    EXPECT_EQ(read(Pcap().add({}).add(frame(1)).bytes()), (std::vector<Seen>{{40, 1, frame(1)}}));
    EXPECT_EQ(m_lines, "");
    Pcapng file;
    file.interface(1).add({}).add(frame(4));
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{80, 1, frame(4)}}));
    EXPECT_EQ(m_lines, "");
}

TEST_F(Frames, WithMoreBytesThanTheirPacketOrBlockAreSkipped) {
    const auto enhanced = [](std::uint32_t captured, std::uint32_t original) {
        return BigBytes().put(0, 12).put(captured, 4, false).put(original, 4, false).put(frame(8)).m_bytes;
    };
    Pcapng file;
    file.interface(1)
        .block(6, enhanced(8, 8))
        .block(6, enhanced(9, 9))
        .block(6, enhanced(8, 7))
        .block(6, enhanced(7, 8));
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{48, 1, frame(8)}, {168, 1, frame(7)}}));
    EXPECT_EQ(m_lines, "c:0x58 E-PCAP 9 bytes captured of a packet of 9, in a block with room for 8: skipped\n"
                       "c:0x80 E-PCAP 8 bytes captured of a packet of 7, in a block with room for 8: skipped\n");
}

TEST_F(Frames, BlocksOfOtherTypesArePassedOver) {
    Pcapng file;
    file.interface(1).block(0x0BAD, {}).block(5, Bytes(200'000)).add(frame(4));
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{200'072, 1, frame(4)}}));
    EXPECT_EQ(m_lines, "");
}

TEST_F(Frames, AfterABlockOfAnInvalidLengthAreNotRead) {
    for (const std::uint32_t length : {0U, 8U, 11U, 13U, 14U}) {
        Pcapng file;
        file.interface(1).add(frame(4)).raw(6, 4).raw(length, 4).add(frame(4));
        EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{48, 1, frame(4)}})) << length;
        EXPECT_EQ(
            m_lines,
            fmt::format("c:0x54 E-BLOCK invalid block length of {} bytes: what follows cannot be found\n", length));
    }
}

TEST_F(Frames, BlocksTooShortForTheirTypeAreReported) {
    Pcapng file;
    file.interface(1).block(1, Bytes(4)).block(3, {}).block(6, Bytes(16)).block(2, Bytes(16)).add(frame(4));
    EXPECT_EQ(read(file.bytes()), (std::vector<Seen>{{132, 1, frame(4)}}));
    EXPECT_EQ(m_lines, "c:0x30 E-BLOCK the block is too short for what it is: skipped\n"
                       "c:0x40 E-BLOCK the block is too short for what it is: skipped\n"
                       "c:0x4c E-BLOCK the block is too short for what it is: skipped\n"
                       "c:0x68 E-BLOCK the block is too short for what it is: skipped\n");
}

TEST_F(Frames, OfMoreInterfacesThanThereMayBeAreNotRead) {
    Pcapng file;
    for (std::size_t i = 0; i < FrameSource::kInterfacesMax; ++i) {
        file.interface(static_cast<std::uint16_t>(i));
    }
    file.add(frame(4), FrameSource::kInterfacesMax - 1);
    const std::vector<Seen> seen{{28 + 20 * FrameSource::kInterfacesMax, FrameSource::kInterfacesMax - 1, frame(4)}};
    EXPECT_EQ(read(file.bytes()), seen);
    EXPECT_EQ(m_lines, "");
    EXPECT_EQ(read(file.interface(1).add(frame(8)).bytes()), seen);
    EXPECT_EQ(m_lines, "c:0x14040 E-BLOCK more than 4096 interfaces: the rest is not read\n");
}

// The length of a section's head is that of the block; what follows an invalid one cannot be found.
TEST_F(Frames, OfASectionWithAnInvalidHeadAreNotRead) {
    const auto section = [](std::uint32_t mark, std::uint32_t length) {
        return BigBytes().put(0x0A0D0D0A, 4, false).put(length, 4, false).put(mark, 4, false).put(0, 40).m_bytes;
    };
    for (const std::uint32_t length : {0U, 24U, 27U, 29U, 30U}) {
        EXPECT_TRUE(read(section(0x1A2B3C4D, length)).empty());
        EXPECT_EQ(m_lines, fmt::format("c:0x0 E-BLOCK invalid section head of {} bytes with a byte order mark of "
                                       "0x1a2b3c4d\n",
                                       length));
    }
    EXPECT_TRUE(read(section(0x1A2B3C4E, 28)).empty());
    EXPECT_EQ(m_lines, "c:0x0 E-BLOCK invalid section head of 28 bytes with a byte order mark of 0x1a2b3c4e\n");
    EXPECT_TRUE(read(section(0x1A2B3C4D, 52)).empty());
    EXPECT_EQ(m_lines, "") << "with options";
}

TEST_F(Frames, WhatIsCutOffIsReportedWhereItBegins) {
    const Bytes pcap = Pcap().add(frame(5)).add(frame(6)).bytes();
    for (std::size_t size = 0; size <= pcap.size(); ++size) {
        const std::size_t frames = size < 45 ? 0 : size < pcap.size() ? 1 : 2;
        EXPECT_EQ(read(Bytes(pcap.begin(), pcap.begin() + static_cast<std::ptrdiff_t>(size))).size(), frames) << size;
        const std::string line =
            size == 0   ? "c:0x0 E-EMPTY the capture is empty\n"
            : size < 4  ? fmt::format("c:0x0 E-TRUNC the capture ends after {} of 4 bytes\n", size)
            : size < 24 ? fmt::format("c:0x0 E-TRUNC the capture ends after {} of 20 bytes\n", size - 4)
            : size == 24 || size == 45 || size == pcap.size() ? ""
            : size < 40 ? fmt::format("c:0x18 E-TRUNC the capture ends after {} of 16 bytes\n", size - 24)
            : size < 45 ? fmt::format("c:0x18 E-TRUNC the capture ends after {} of 5 bytes\n", size - 40)
            : size < 61 ? fmt::format("c:0x2d E-TRUNC the capture ends after {} of 16 bytes\n", size - 45)
                        : fmt::format("c:0x2d E-TRUNC the capture ends after {} of 6 bytes\n", size - 61);
        EXPECT_EQ(m_lines, line) << size;
    }
}

TEST_F(Frames, OfAnUnknownFileAreNone) {
    EXPECT_TRUE(read(frame(100)).empty());
    EXPECT_EQ(m_lines, "c:0x0 E-MAGIC 0x01020304 begins neither pcap nor pcapng\n");
}

TEST_F(Frames, AreReadWhateverTheSnapshotLength) {
    for (const std::uint32_t length : {0U, 0x8000'0000U, 1U, 0x7FFF'FFFFU}) {
        Bytes bytes = Pcap().add(frame(5)).bytes();
        lib::store_le(std::span(bytes).subspan(16), length);
        EXPECT_EQ(read(bytes), (std::vector<Seen>{{24, 1, frame(5)}}));
        EXPECT_EQ(m_lines,
                  length == 0 || length > 0x7FFF'FFFF
                      ? fmt::format("c:0x0 E-PCAP invalid snapshot length of {}: 65535 is used instead\n", length)
                      : "");
    }
}

} // namespace

} // namespace host::formats::capture::frame_source_test
