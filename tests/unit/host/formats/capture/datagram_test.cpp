// SPDX-License-Identifier: MIT
// Tests how a datagram is found in a frame: what each length must be, and what a frame that ends a byte earlier is.
#include "host/formats/capture/capture.hpp"

#include "tests/support/capture_files.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace host::formats::capture::datagram_test {

namespace {

using support::BigBytes;
using support::Bytes;
using support::ethernet;
using support::ip_packet;

constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kRaw = 101;
constexpr std::size_t kIpBytes = 20;
constexpr std::size_t kUdpBytes = 8;

Verdict verdict_of(std::uint16_t link_type, const Bytes& frame) {
    Datagram datagram;
    return find_datagram(link_type, frame, datagram);
}

// The payload; nothing if it is no sound datagram.
std::optional<Bytes> payload_of(std::uint16_t link_type, const Bytes& frame) {
    Datagram datagram;
    if (find_datagram(link_type, frame, datagram) != Verdict::datagram) {
        return std::nullopt;
    }
    return Bytes(datagram.payload.begin(), datagram.payload.end());
}

Bytes text(std::string_view characters) {
    Bytes bytes;
    for (const char character : characters) {
        bytes.push_back(static_cast<std::byte>(character));
    }
    return bytes;
}

// Without a checksum, so that a test may change anything else.
Bytes unchecked(std::string_view payload = "hello") {
    Bytes packet = ip_packet(text(payload));
    packet[26] = packet[27] = std::byte{0};
    return packet;
}

Bytes with(Bytes packet, std::size_t at, std::initializer_list<unsigned> values) {
    for (const unsigned value : values) {
        packet[at++] = static_cast<std::byte>(value);
    }
    return packet;
}

TEST(Datagram, HasItsSenderAndItsPayload) {
    Datagram datagram;
    const Bytes packet = with(unchecked(), 20, {0x12, 0x34});
    ASSERT_EQ(find_datagram(kRaw, packet, datagram), Verdict::datagram);
    EXPECT_EQ(datagram.source_address, 0x0A00020FU);
    EXPECT_EQ(datagram.source_port, 0x1234);
    EXPECT_EQ(Bytes(datagram.payload.begin(), datagram.payload.end()), text("hello"));
}

TEST(Datagram, IsFoundAfterEachLinkHeaderThatIsWhole) {
    const Bytes packet = unchecked();

    struct Row {
        std::uint16_t link_type;
        Bytes header;
    };

    const std::vector<Row> rows = {
        {0, BigBytes().put(2, 4).m_bytes},
        {0, BigBytes().put(2, 4, false).m_bytes},
        {1, ethernet({})},
        {1, ethernet({}, {0x8100})},
        {1, ethernet({}, {0x9100, 0x88A8})},
        {12, {}},
        {14, {}},
        {101, {}},
        {108, BigBytes().put(2, 4).m_bytes},
        {113, BigBytes().put(0, 14).put(0x0800, 2).m_bytes},
        {228, {}},
        {276, BigBytes().put(0x0800, 2).put(0, 18).m_bytes},
        {276, BigBytes().put(0x8100, 2).put(0, 18).put(7, 2).put(0x0800, 2).m_bytes},
        {276, BigBytes().put(0x88A8, 2).put(0, 18).put(7, 2).put(0x8100, 2).put(7, 2).put(0x0800, 2).m_bytes},
        {113, BigBytes().put(0, 14).put(0x8100, 2).put(7, 2).put(0x0800, 2).m_bytes},
    };
    for (const Row& row : rows) {
        const Bytes frame = BigBytes().put(row.header).put(packet).m_bytes;
        EXPECT_EQ(payload_of(row.link_type, frame), text("hello")) << row.link_type;
        for (std::size_t size = 0; size < frame.size(); ++size) {
            const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_EQ(verdict_of(row.link_type, cut), Verdict::cut) << row.link_type << ' ' << size;
        }
    }
    EXPECT_EQ(verdict_of(147, packet), Verdict::unknown_link);
}

TEST(Datagram, OfAnotherProtocolIsNoBusinessOfOurs) {
    EXPECT_EQ(verdict_of(0, BigBytes().put(7, 4).put(unchecked()).m_bytes), Verdict::other);
    EXPECT_EQ(verdict_of(276, BigBytes().put(0x0806, 2).put(0, 18).put(unchecked()).m_bytes), Verdict::other);
    EXPECT_EQ(verdict_of(kEthernet, with(ethernet(unchecked()), 12, {0x08, 0x06})), Verdict::other);
    // Known from the link header alone.
    EXPECT_EQ(verdict_of(0, BigBytes().put(7, 4).m_bytes), Verdict::other);
    EXPECT_EQ(verdict_of(276, BigBytes().put(0x0806, 2).put(0, 18).m_bytes), Verdict::other);
    EXPECT_EQ(verdict_of(kEthernet, with(ethernet({}), 12, {0x08, 0x06})), Verdict::other);
    EXPECT_EQ(verdict_of(kRaw, with(unchecked(), 0, {0x55})), Verdict::other) << "version 5";
    EXPECT_EQ(verdict_of(kRaw, with(unchecked(), 9, {6})), Verdict::other) << "TCP";
    EXPECT_EQ(verdict_of(kEthernet, ethernet(unchecked(), {0x8100, 0x8100, 0x8100})), Verdict::vlan);
}

TEST(Datagram, OfIpv6IsFoundAfterItsHeaders) {
    const Bytes datagram = BigBytes().put(20000, 2).put(20000, 2).put(13, 2).put(0, 2).put(text("hello")).m_bytes;
    const auto packet = [&](std::uint8_t next, const Bytes& headers) {
        BigBytes ip;
        ip.put(0x6, 1).put(0, 3).put(headers.size() + datagram.size(), 2).put(next, 1).put(64, 1);
        ip.m_bytes[0] = std::byte{0x60};
        return ip.put(0xFE80, 2).put(1, 14).put(0xFE80, 2).put(2, 14).put(headers).put(datagram).m_bytes;
    };
    const Bytes options = BigBytes().put(60, 1).put(0, 1).put(0, 6).put(17, 1).put(1, 1).put(0, 14).m_bytes;
    for (const Bytes& sound : {packet(17, {}), packet(0, options)}) {
        EXPECT_EQ(payload_of(kRaw, sound), text("hello"));
        EXPECT_EQ(payload_of(229, sound), text("hello"));
        EXPECT_EQ(payload_of(kEthernet, with(ethernet(sound), 12, {0x86, 0xDD})), text("hello"));
        EXPECT_EQ(payload_of(0, BigBytes().put(30, 4, false).put(sound).m_bytes), text("hello"));
        for (std::size_t size = 0; size < sound.size(); ++size) {
            const Bytes cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_EQ(verdict_of(kRaw, cut), Verdict::cut) << size;
        }
    }
    EXPECT_EQ(verdict_of(kRaw, packet(6, {})), Verdict::other) << "TCP";
    EXPECT_EQ(verdict_of(kRaw, packet(44, BigBytes().put(17, 1).put(0, 7).m_bytes)), Verdict::fragment);
    EXPECT_EQ(verdict_of(kRaw, packet(0, BigBytes().put(17, 1).put(9, 1).put(0, 6).m_bytes)), Verdict::bad_header);
    EXPECT_EQ(verdict_of(kRaw, with(packet(17, {}), 46, {1, 1})), Verdict::bad_checksum);
}

// Whatever follows the packet in its frame is padding; options of the header are no payload.
TEST(Datagram, EndsWhereItsLengthsSay) {
    const Bytes packet = unchecked();
    EXPECT_EQ(payload_of(kRaw, BigBytes().put(packet).put(0xFFFF'FFFF, 7).m_bytes), text("hello"));
    Bytes options = with(packet, 0, {0x46, 0, 0, 37});
    options.insert(options.begin() + kIpBytes, 4, std::byte{1});
    EXPECT_EQ(payload_of(kRaw, options), text("hello"));
    EXPECT_EQ(payload_of(kRaw, with(packet, 24, {0, kUdpBytes + 2})), text("he"));
    EXPECT_EQ(payload_of(kRaw, with(packet, 24, {0, kUdpBytes})), Bytes());
}

TEST(Datagram, WithLengthsThatContradictEachOtherIsRefused) {
    const Bytes packet = unchecked();
    EXPECT_EQ(verdict_of(kRaw, with(packet, 0, {0x44})), Verdict::bad_header) << "a header of 16 bytes";
    EXPECT_EQ(verdict_of(kRaw, with(packet, 2, {0, kIpBytes - 1})), Verdict::bad_header) << "less than its header";
    EXPECT_EQ(verdict_of(kRaw, with(packet, 2, {0, kIpBytes + kUdpBytes - 1})), Verdict::bad_header) << "no room";
    EXPECT_EQ(verdict_of(kRaw, with(packet, 2, {0, kIpBytes})), Verdict::bad_header) << "no room at all";
    EXPECT_EQ(verdict_of(kRaw, with(packet, 24, {0, kUdpBytes - 1})), Verdict::bad_header);
    EXPECT_EQ(verdict_of(kRaw, with(packet, 24, {0, kUdpBytes + 6})), Verdict::bad_header) << "one byte too many";
    EXPECT_EQ(verdict_of(kRaw, with(packet, 2, {0, 34})), Verdict::cut) << "one byte was not captured";
}

TEST(Datagram, InFragmentsIsRefused) {
    EXPECT_EQ(verdict_of(kRaw, with(unchecked(), 6, {0x20, 0})), Verdict::fragment) << "the first";
    EXPECT_EQ(verdict_of(kRaw, with(unchecked(), 6, {0, 1})), Verdict::fragment) << "a later one";
    EXPECT_EQ(verdict_of(kRaw, with(unchecked(), 6, {0x40, 0})), Verdict::datagram) << "it may not be fragmented";
}

// Of an even and an odd number of bytes: each single bit counts.
TEST(Datagram, WithAnotherChecksumIsNamedSo) {
    for (const std::string_view payload : {"", "a", "\xFF\xFE\xFD\xFC\xFB\xFA", "hello", "hello!"}) {
        const Bytes packet = ip_packet(text(payload));
        ASSERT_EQ(payload_of(kRaw, packet), text(payload));
        for (std::size_t bit = 8 * 12; bit < 8 * packet.size(); ++bit) {
            if (bit / 8 == 24 || bit / 8 == 25) {
                continue; // a length
            }
            Bytes other = packet;
            other[bit / 8] ^= std::byte{1} << (bit % 8);
            EXPECT_EQ(verdict_of(kRaw, other), Verdict::bad_checksum) << payload << ' ' << bit;
        }
    }
}

TEST(Datagram, EachVerdictThatIsReportedHasItsText) {
    EXPECT_EQ(verdict_text(Verdict::datagram), "");
    EXPECT_EQ(verdict_text(Verdict::unknown_link), "");
    EXPECT_EQ(verdict_text(Verdict::other), "");
    EXPECT_EQ(verdict_text(Verdict::vlan), "more than two VLAN tags");
    EXPECT_EQ(verdict_text(Verdict::cut), "captured shorter than they were");
    EXPECT_EQ(verdict_text(Verdict::bad_header), "lengths that contradict each other");
    EXPECT_EQ(verdict_text(Verdict::fragment), "fragments of IP packets");
    EXPECT_EQ(verdict_text(Verdict::bad_checksum), "a wrong UDP checksum");
}

} // namespace

} // namespace host::formats::capture::datagram_test
