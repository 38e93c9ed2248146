// SPDX-License-Identifier: MIT
// Network captures as traces. The rows D46 to D53 of the list of malformed input are named where they are tested.
#include "host/trace/trace.hpp"

#include "tests/support/capture_files.hpp"
#include "tests/support/host_command_line.hpp"

#include <gmock/gmock.h>

namespace host::trace {

namespace {

using namespace support;
using testing::HasSubstr;

class Capture : public testing::Test {
  protected:
    Capture() {
        ChunkBuilder chunk;
        for (unsigned i = 0; i < 200; ++i) {
            chunk.event(1000 + i, "user_event_0", static_cast<std::uint16_t>(i), i);
        }
        std::uint32_t number = 1;
        m_datagrams = packets(chunk.bytes(), number);
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

    // The events of the workload that come out.
    std::size_t read(const Bytes& bytes, InputKind kind = InputKind::detect) {
        const std::string path = m_directory.write("net.pcap", bytes);
        m_lines.clear();
        m_diagnostics = std::make_unique<Diagnostics>([this](std::string_view line) {
            m_lines += line;
            m_lines += '\n';
        });
        auto trace = Trace::open(path, {.kind = kind}, *m_diagnostics);
        std::size_t events = 0;
        if (trace) {
            for (Event event; trace.value()->next(event);) {
                events += event.metadata ? 0 : 1;
            }
        }
        m_diagnostics->finish();
        return events;
    }

    std::uint64_t count(Code code) const { return m_diagnostics->count(code); }

    // One frame in front that must be skipped, for a reason that is told.
    void expect_skipped(const Bytes& spoilt, const std::string& reason) {
        Pcap pcap;
        pcap.add(spoilt);
        for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
            pcap.add(frame(i));
        }
        EXPECT_EQ(read(pcap.bytes()), 200U) << m_lines;
        EXPECT_THAT(m_lines, HasSubstr(reason));
    }

    TemporaryDirectory m_directory;
    std::vector<Bytes> m_datagrams;
    std::unique_ptr<Diagnostics> m_diagnostics;
    std::string m_lines;
};

TEST_F(Capture, D47BothByteOrdersAndBothResolutionsAreRead) {
    for (const bool big : {false, true}) {
        for (const std::uint32_t magic : {0xA1B2C3D4U, 0xA1B23C4DU}) {
            Pcap pcap(big, magic);
            Pcapng ng(big);
            ng.interface(1);
            for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
                pcap.add(frame(i));
                ng.add(frame(i));
            }
            EXPECT_EQ(read(pcap.bytes()), 200U);
            EXPECT_EQ(m_lines, "");
            EXPECT_EQ(read(ng.bytes()), 200U);
            EXPECT_EQ(m_lines, "");
        }
    }
}

TEST_F(Capture, D47EveryLinkTypeIsRead) {
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
    Pcap unknown(false, 0xA1B2C3D4, 147);
    EXPECT_EQ(read(unknown.add(frame(0)).bytes()), 0U);
    EXPECT_THAT(m_lines, HasSubstr("net.pcap:0x18 E-LINKTYPE link type 147"));
}

TEST_F(Capture, SeveralSectionsAndInterfacesAreRead) {
    Pcapng ng;
    ng.interface(147).interface(1).add(frame(0), 1).block(0x0BAD, Bytes(40)).simple(frame(0)).section().interface(101);
    for (std::size_t i = 1; i < m_datagrams.size(); ++i) {
        ng.add(ip_packet(m_datagrams[i]));
    }
    EXPECT_EQ(read(ng.bytes()), 200U);
    EXPECT_EQ(count(Code::link_type), 1U) << m_lines;
}

TEST_F(Capture, D46LengthsOfARecordThatCannotBe) {
    for (const auto& [captured, original] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
             {1U << 31, 1U << 31}, {0xFFFFFFFF, 0xFFFFFFFF}, {65'536, 65'536}}) {
        EXPECT_EQ(read(whole().raw({}, captured, original).bytes()), 200U);
        EXPECT_EQ(count(Code::capture), 1U) << m_lines;
        EXPECT_EQ(count(Code::truncated), 1U);
    }
    Pcap pcap;
    pcap.raw(frame(0), frame(0).size(), frame(0).size() - 1); // captured more than there was: skipped
    for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
        pcap.add(frame(i));
    }
    EXPECT_EQ(read(pcap.bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("net.pcap:0x18 E-PCAP"));
    Bytes snaplen = whole().bytes();
    std::fill_n(snaplen.begin() + 16, 4, std::byte{0});
    EXPECT_EQ(read(snaplen), 200U);
    EXPECT_EQ(count(Code::capture), 1U);
}

TEST_F(Capture, D48BlocksThatCannotBe) {
    for (const std::uint32_t length : {0U, 3U, 8U, 11U, 13U, 0xFFFFFFFFU}) {
        Pcapng ng;
        ng.interface(1).add(frame(0)).raw(6, 4).raw(length, 4).raw(0, 8);
        read(ng.bytes());
        EXPECT_EQ(count(Code::block), 1U) << length << m_lines;
    }
    Pcapng ng;
    ng.interface(1);
    for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
        ng.add(frame(i));
    }
    Bytes bytes = ng.bytes();
    bytes[bytes.size() - 4] ^= std::byte{4}; // the last trailer
    EXPECT_LT(read(bytes), 200U);
    EXPECT_EQ(count(Code::block), 1U) << m_lines;
    EXPECT_THAT(m_lines, HasSubstr("ends with a length of"));
    Pcapng absent;
    absent.interface(1).add(frame(0), 1);
    read(absent.bytes());
    EXPECT_EQ(count(Code::block), 1U) << m_lines;
}

TEST_F(Capture, D49InternetHeadersThatCannotBe) {
    Bytes spoilt = frame(0);
    spoilt[14] = std::byte{0x44};
    expect_skipped(spoilt, "W-PACKET 1 frames skipped: lengths that contradict");
    spoilt = frame(0);
    spoilt[16] = std::byte{0xFF};
    expect_skipped(spoilt, "captured shorter than they were");
    spoilt = frame(0);
    spoilt[20] = std::byte{0x20};
    expect_skipped(spoilt, "fragments");
    expect_skipped(ethernet(ip_packet(m_datagrams[0]), {0x8100, 0x8100, 0x8100}), "more than two VLAN tags");
    Bytes stack(1000 * 4 + 12);
    for (std::size_t i = 12; i < stack.size(); i += 4) {
        stack[i] = std::byte{0x81};
    }
    expect_skipped(stack, "more than two VLAN tags");
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

TEST_F(Capture, D50DatagramsThatCannotBe) {
    Bytes spoilt = frame(0);
    spoilt[38] = std::byte{0};
    spoilt[39] = std::byte{7};
    expect_skipped(spoilt, "lengths that contradict");
    spoilt[38] = std::byte{0xFF};
    expect_skipped(spoilt, "lengths that contradict");
    spoilt = frame(0);
    spoilt.back() ^= std::byte{1};
    expect_skipped(spoilt, "a wrong UDP checksum");
    spoilt[40] = spoilt[41] = std::byte{0}; // no checksum: the contents decide
    Pcap pcap;
    pcap.add(spoilt);
    read(pcap.bytes());
    EXPECT_THAT(m_lines, testing::Not(HasSubstr("checksum")));
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

TEST_F(Capture, D51HeadersOfOursThatLie) {
    Bytes spoilt = m_datagrams[0];
    spoilt[16] ^= std::byte{1};
    expect_skipped(ethernet(ip_packet(spoilt)), "1 packet skipped: the header contradicts itself");
    spoilt = m_datagrams[0];
    spoilt.pop_back();
    expect_skipped(ethernet(ip_packet(spoilt)), "1 packet skipped: the header contradicts itself");
    spoilt.resize(23);
    expect_skipped(ethernet(ip_packet(spoilt)), "1 packet skipped: the header contradicts itself");
}

TEST_F(Capture, D53OtherVersionsAreLeftOut) {
    Bytes spoilt = m_datagrams[0];
    spoilt[8] = std::byte{'2'};
    expect_skipped(ethernet(ip_packet(spoilt)), "1 packet skipped: only TRACER-V1.0 can be read");
}

TEST_F(Capture, D52OrderDuplicatesAndGaps) {
    Pcap shuffled;
    shuffled.add(frame(1)).add(frame(0)).add(frame(0));
    for (std::size_t i = 2; i < m_datagrams.size(); ++i) {
        shuffled.add(frame(i));
    }
    EXPECT_EQ(read(shuffled.bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("W-DUP 1 packet came more than once"));
    EXPECT_FALSE(m_diagnostics->damaged());
    Pcap gap;
    for (std::size_t i = 0; i < m_datagrams.size(); ++i) {
        if (i != 1) {
            gap.add(frame(i));
        }
    }
    EXPECT_LT(read(gap.bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("W-GAP 1 packet is missing"));
}

TEST_F(Capture, D52ConflictsLeapsAndOtherSessions) {
    Pcap pcap = whole();
    Bytes other = m_datagrams[1];
    other.back() ^= std::byte{1};
    EXPECT_EQ(read(pcap.add(ethernet(ip_packet(other))).bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("E-CONFLICT packet 2 has other contents than at 0x"));

    Bytes leap = m_datagrams[1];
    leap[15] = std::byte{0x7F};
    EXPECT_EQ(read(whole().add(ethernet(ip_packet(leap))).bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("a number that leaps"));

    EXPECT_EQ(read(whole().add(frame(0, 16)).bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("E-BOOT another sender"));

    Pcap again = whole();
    for (Bytes datagram : m_datagrams) {
        datagram.back() ^= std::byte{1};
        again.add(ethernet(ip_packet(datagram)));
    }
    EXPECT_EQ(read(again.bytes()), 200U);
    EXPECT_THAT(m_lines, HasSubstr("E-BOOT the sender begins again, with packet 1"));
}

TEST_F(Capture, ACaptureWithoutPacketsIsAnError) {
    EXPECT_EQ(read(Pcap().add(ethernet(ip_packet(Bytes(100)))).bytes()), 0U);
    EXPECT_THAT(m_lines, HasSubstr("E-EMPTY none of 1 frames holds a TRACER-V1.0 packet"));
    EXPECT_EQ(m_diagnostics->exit_status(false), ExitStatus::nothing);
}

TEST_F(Capture, EveryTruncationIsSurvived) {
    const Bytes bytes = whole().bytes();
    for (std::size_t size = 0; size < bytes.size(); size += size < 1200 ? 1 : 37) {
        EXPECT_LE(read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, InputKind::capture), 200U);
    }
}

TEST_F(Capture, EverySingleBitFlipIsSurvived) {
    Pcapng ng;
    ng.interface(1).add(frame(0));
    for (const Bytes& golden : {Pcap().add(frame(0)).bytes(), ng.bytes()}) {
        for (std::size_t bit = 0; bit < std::min<std::size_t>(golden.size(), 300) * 8; ++bit) {
            Bytes bytes = golden;
            bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            EXPECT_LE(read(bytes, InputKind::capture), 200U);
        }
    }
}

} // namespace

} // namespace host::trace
