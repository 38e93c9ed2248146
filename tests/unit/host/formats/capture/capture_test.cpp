// SPDX-License-Identifier: MIT
// Tests network captures as traces. Malformed ones: malformed/capture_rows.cpp.
#include "tests/support/capture_files.hpp"
#include "tests/support/reading_test.hpp"

#include <gmock/gmock.h>

namespace host::trace::capture_test {

namespace {

using namespace support;
using testing::HasSubstr;

class Capture : public support::ReadingTest {
  protected:
    Capture() {
        ChunkBuilder chunk;
        for (unsigned i = 0; i < 200; ++i) {
            chunk.event(1000 + i, "user_event_0", static_cast<std::uint16_t>(i), i);
        }
        m_datagrams = packets(chunk.bytes(), m_next);
        EXPECT_GE(m_datagrams.size(), 4U);
    }

    [[nodiscard]] Bytes frame(std::size_t datagram, std::uint8_t host = 15) const {
        return ethernet(ip_packet(m_datagrams[datagram], host));
    }

    Pcap whole() const {
        Pcap pcap;
        for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
            pcap.add(frame(i));
        }
        return pcap;
    }

    std::uint64_t count(Code code) const { return m_diagnostics->count(code); }

    std::uint32_t m_next = 1; // the number of the packet after them
    std::vector<Bytes> m_datagrams;
};

TEST_F(Capture, EveryLinkTypeIsRead) {
    const Bytes null = BigBytes().put(2, 4, false).m_bytes;
    const Bytes cooked = BigBytes().put(0, 14).put(0x0800, 2).m_bytes;
    const Bytes cooked2 = BigBytes().put(0x0800, 2).put(0, 18).m_bytes;
    for (const auto& [link, head] : std::initializer_list<std::pair<std::uint32_t, Bytes>>{
             {0, null}, {108, BigBytes().put(2, 4).m_bytes}, {101, {}}, {228, {}}, {113, cooked}, {276, cooked2}}) {
        Pcap pcap(false, 0xA1B2C3D4, link);
        for (const Bytes& datagram : m_datagrams) {
            pcap.add(BigBytes().put(head).put(ip_packet(datagram)).m_bytes);
        }
        EXPECT_EQ(read(pcap.bytes()), 200U) << link;
        EXPECT_EQ(m_lines, "");
    }
}

TEST_F(Capture, SeveralSectionsAndInterfacesAreRead) {
    Pcapng ng;
    ng.interface(147).interface(1).add(frame(0), 1).block(0x0BAD, Bytes(40)).simple(frame(0)).section().interface(101);
    for (std::size_t i = 1; i < m_datagrams.size(); ++i) {
        ng.add(ip_packet(m_datagrams[i]));
    }
    EXPECT_EQ(read(ng.bytes()), 200U);
    EXPECT_EQ(m_lines, "") << "nothing is missing because of another interface";
    ng.add(ip_packet(packets(ChunkBuilder(1).event(1, "ipoint").bytes(), m_next += 5)[0]));
    EXPECT_EQ(read(ng.bytes()), 201U);
    EXPECT_THAT(m_lines, HasSubstr("E-LINKTYPE link type 147 cannot be read: 1 frame skipped"));
}

// Also if a wrong number is among them.
TEST_F(Capture, AnyOrderOfPacketsIsRead) {
    std::uint32_t number = 1;
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 200; ++i) {
        chunk.event(1000 + i, "user_event_0", static_cast<std::uint16_t>(i), i);
    }
    const auto parts = packets(chunk.bytes(), number, 1);
    Pcap pcap;
    std::uint32_t wrong = 0x7000'0000;
    pcap.add(ethernet(ip_packet(packets(Bytes(16), wrong)[0])));
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        pcap.add(ethernet(ip_packet(*part)));
    }
    EXPECT_EQ(read(pcap.bytes()), 200U);
    EXPECT_EQ(m_lines.find("W-GAP"), std::string::npos) << m_lines;
    EXPECT_THAT(m_lines, HasSubstr("1 packet skipped: a packet number that jumps too far"));
}

TEST_F(Capture, WithTheModifiedHeaderOfSomeLinuxIsRead) {
    for (const bool big : {false, true}) {
        Pcap pcap(big, 0xA1B2CD34);
        for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
            // An interface, a protocol, a kind of packet and a byte more are in the header of each frame.
            pcap.raw(BigBytes().put(2, 4, big).put(0x0800, 2, big).put(0, 2).put(frame(i)).m_bytes, frame(i).size(),
                     frame(i).size());
        }
        EXPECT_EQ(read(pcap.bytes()), 200U) << big;
        EXPECT_EQ(m_lines, "");
    }
}

// What a network adapter cuts into packets, or has joined, is one frame in the capture of its machine.
TEST_F(Capture, PacketsThatAnAdapterJoinedAreRead) {
    BigBytes joined;
    for (const Bytes& datagram : m_datagrams) {
        joined.put(datagram);
    }
    EXPECT_EQ(read(Pcap().add(ethernet(ip_packet(joined.m_bytes))).bytes()), 200U);
    EXPECT_EQ(m_lines, "");
    joined.m_bytes.pop_back();
    EXPECT_LT(read(Pcap().add(ethernet(ip_packet(joined.m_bytes))).bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("1 packet skipped: the header contradicts itself or the datagram"));
}

TEST_F(Capture, OneAndTwoTagsAreRead) {
    Pcap pcap;
    pcap.add(ethernet(ip_packet(m_datagrams[0]), {0x8100}));
    for (std::size_t i = 1; i < m_datagrams.size(); ++i) {
        pcap.add(ethernet(ip_packet(m_datagrams[i]), {0x88A8, 0x8100}));
    }
    EXPECT_EQ(read(pcap.bytes()), 200U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(Capture, ADatagramWithoutAChecksumIsRead) {
    Bytes bytes = frame(0);
    bytes[40] = bytes[41] = std::byte{0};
    Pcap pcap;
    pcap.add(bytes);
    for (std::size_t i = 1; i < m_datagrams.size(); ++i) {
        pcap.add(frame(i));
    }
    EXPECT_EQ(read(pcap.bytes()), 200U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(Capture, AChecksumLeftToTheAdapterIsNoDamage) {
    Pcap pcap;
    for (const Bytes& datagram : m_datagrams) {
        Bytes packet = ip_packet(datagram);
        const auto pseudo =
            internet_fold(internet_sum({packet.begin() + 12, packet.begin() + 20}, 0) + 17 + packet.size() - 20);
        packet[26] = static_cast<std::byte>(pseudo >> 8);
        packet[27] = static_cast<std::byte>(pseudo & 0xFF);
        pcap.add(ethernet(packet));
    }
    EXPECT_EQ(read(pcap.bytes()), 200U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(Capture, ACaptureWithoutPacketsIsAnError) {
    EXPECT_EQ(read(Pcap().add(ethernet(ip_packet(Bytes(100)))).bytes()), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-EMPTY none of 1 frames holds a TRACER-V1.0 packet"));
    EXPECT_EQ(m_diagnostics->exit_status(false), ExitStatus::nothing);
}

} // namespace

} // namespace host::trace::capture_test
