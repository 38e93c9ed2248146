// SPDX-License-Identifier: MIT
// Tests the packet on the wire: SipHash by the vectors of its authors, places of the fields, and what decode() refuses.
// The protocol as a whole: tests/simulation/.
#include "tracer/reliable/packet.hpp"

#include "tracer/reliable/sender.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace packet_test {

namespace wire = tracer::reliable;
using Bytes = std::vector<std::byte>;

constexpr wire::SipKey kKey{0x0706'0504'0302'0100, 0x0f0e'0d0c'0b0a'0908};

Bytes counting(std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i);
    }
    return bytes;
}

std::uint64_t hash(std::span<const std::byte> bytes) {
    wire::SipHash sip(kKey);
    sip.add(bytes);
    return sip.result();
}

Bytes data_packet(std::size_t records, const wire::SipKey* key = nullptr) {
    Bytes packet = counting(wire::kHeaderBytes + records * tracer::kRecordBytes);
    wire::encode({.type = wire::PacketType::data,
                  .flags = 1,
                  .stream = 3,
                  .session = 0x1122'3344'5566'7788,
                  .seq = 41,
                  .stamp = 7},
                 key, packet);
    return packet;
}

// Appendix A of the paper, and the first of the vectors that the authors publish with their source.
TEST(SipHash, EqualsTheVectorsOfItsAuthors) {
    EXPECT_EQ(hash(counting(15)), 0xa129'ca61'49be'45e5U);
    EXPECT_EQ(hash({}), 0x726f'db47'dd0e'0e31U);
    EXPECT_EQ(hash(counting(1)), 0x74f8'39c5'93dc'67fdU);
}

TEST(SipHash, DoesNotDependOnHowTheMessageIsCut) {
    const Bytes message = counting(100);
    for (std::size_t cut = 0; cut <= message.size(); ++cut) {
        wire::SipHash sip(kKey);
        sip.add(std::span(message).first(cut));
        sip.add(std::span(message).subspan(cut));
        EXPECT_EQ(sip.result(), hash(message));
    }
}

TEST(ReliablePacket, KeepsThePublishedHeaderInItsPlace) {
    const Bytes packet = data_packet(2);
    ASSERT_EQ(packet.size(), 64U + 32U);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(packet.data()), 12),
              std::string_view("TRACER-V2.0\0", 12));
    EXPECT_EQ(lib::load_le<std::uint32_t>(std::span(packet).subspan(12)), 42U); // from 1 on
    EXPECT_EQ(lib::load_le<std::uint32_t>(std::span(packet).subspan(16)), 2U);
    EXPECT_EQ(lib::load_le<std::uint32_t>(std::span(packet).subspan(20)), packet.size());
    EXPECT_FALSE(tracer::decode_packet_header(packet).ok()) << "a collector of version 1 would take it for its own";
}

TEST(ReliablePacket, ComesBackAsItWasEncoded) {
    const auto header = wire::decode(data_packet(64));
    ASSERT_TRUE(header.ok());
    EXPECT_EQ(header.value().type, wire::PacketType::data);
    EXPECT_EQ(header.value().flags, 1);
    EXPECT_EQ(header.value().stream, 3);
    EXPECT_EQ(header.value().session, 0x1122'3344'5566'7788U);
    EXPECT_EQ(header.value().seq, 41U);
    EXPECT_EQ(header.value().stamp, 7U);

    Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
    wire::encode_body(wire::Totals{.bytes = 1, .crc32c = 2, .streams = 3},
                      std::span(packet).subspan(wire::kHeaderBytes));
    wire::encode({.type = wire::PacketType::fin}, nullptr, packet);
    ASSERT_TRUE(wire::decode(packet).ok());
    EXPECT_EQ(wire::decode_body<wire::Totals>(packet), (wire::Totals{.bytes = 1, .crc32c = 2, .streams = 3}));
}

TEST(ReliablePacket, IsRefusedWithAnyBitFlippedAndAtAnyLength) {
    const Bytes packet = data_packet(3);
    for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit) {
        if (bit / 8 >= 56 && bit / 8 < 64) {
            continue; // the MAC, which decode() does not judge
        }
        Bytes damaged = packet;
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_FALSE(wire::decode(damaged).ok()) << "bit " << bit;
    }
    for (std::size_t size = 0; size < 2 * packet.size(); ++size) {
        Bytes cut = packet;
        cut.resize(size);
        EXPECT_EQ(wire::decode(cut).ok(), size == packet.size()) << size;
    }
}

TEST(ReliablePacket, IsAuthenticOnlyWithItsKey) {
    const wire::SipKey other{kKey.first, kKey.second ^ 1};
    const Bytes packet = data_packet(3, &kKey);
    const auto header = wire::decode(packet);
    ASSERT_TRUE(header.ok());
    EXPECT_TRUE(wire::authentic(header.value(), &kKey, packet));
    EXPECT_FALSE(wire::authentic(header.value(), &other, packet));
    EXPECT_FALSE(wire::authentic(header.value(), nullptr, packet));
    EXPECT_FALSE(wire::authentic(wire::decode(data_packet(3)).value(), &kKey, data_packet(3)));
    const wire::SipKey first = wire::session_key(kKey, 1, 2);
    EXPECT_NE(first, wire::session_key(kKey, 1, 3));
    EXPECT_NE(first, wire::session_key(kKey, 2, 2));
}

TEST(RoundTrip, ASampleEndsTheBackoffWithinTheBounds) {
    wire::RoundTrip trip;
    EXPECT_EQ(trip.timeout(), wire::RoundTrip::kTimeoutFirst);
    for (int i = 0; i < 10; ++i) {
        trip.back_off();
    }
    EXPECT_EQ(trip.timeout(), lib::milliseconds(4 * 200));
    trip.sample(lib::microseconds(100));
    EXPECT_EQ(trip.timeout(), wire::RoundTrip::kTimeoutMin);
    trip.back_off();
    EXPECT_EQ(trip.timeout(), lib::milliseconds(2 * 20));
    for (int i = 0; i < 10; ++i) {
        trip.back_off();
    }
    EXPECT_EQ(trip.timeout(), wire::RoundTrip::kBackedOffMin) << "a network that loses much is not a slow one";
    for (int i = 0; i < 100; ++i) {
        trip.sample(lib::milliseconds(50));
    }
    EXPECT_GE(trip.late_after(), lib::milliseconds(50));
    EXPECT_LE(trip.late_after(), lib::milliseconds(60)); // a steady network needs little margin
}

// RFC 6298: a half of the first sample, then a quarter and an eighth of what is new.
TEST(RoundTrip, FollowsTheMeanAndFourDeviations) {
    wire::RoundTrip trip;
    EXPECT_EQ(trip.late_after(), wire::RoundTrip::kTimeoutFirst);
    trip.sample(lib::milliseconds(80)); // mean 80, deviation 40
    EXPECT_EQ(trip.late_after(), lib::milliseconds(80 + 4 * 40));
    EXPECT_EQ(trip.timeout(), trip.late_after());
    trip.sample(lib::milliseconds(40)); // 75, (3 * 40 + 40) / 4
    EXPECT_EQ(trip.late_after(), lib::milliseconds(75 + 4 * 40));
    trip.sample(lib::milliseconds(155)); // 85, (3 * 40 + 80) / 4
    EXPECT_EQ(trip.late_after(), lib::milliseconds(85 + 4 * 50));
    trip.back_off();
    EXPECT_EQ(trip.timeout(), lib::milliseconds(2 * (85 + 4 * 50)));
    EXPECT_EQ(trip.late_after(), lib::milliseconds(85 + 4 * 50)) << "a packet is not later for that";
}

TEST(RoundTrip, TakesNoSampleForLongerThanTheLongestTimeout) {
    wire::RoundTrip trip;
    trip.sample(lib::milliseconds(60'000));
    EXPECT_EQ(trip.late_after(), lib::milliseconds(2'000 + 4 * 1'000));
    EXPECT_EQ(trip.timeout(), wire::RoundTrip::kTimeoutMax);
}

TEST(ReliablePacket, StatesNumberAndRecordsOfDataAlone) {
    Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
    wire::encode({.type = wire::PacketType::abort, .stream = 63, .seq = 41}, nullptr, packet);
    ASSERT_TRUE(wire::decode(packet).ok());
    EXPECT_EQ(wire::decode(packet).value().number, 0U);
    EXPECT_EQ(wire::decode(packet).value().records, 0U);
    EXPECT_EQ(wire::decode(packet).value().size_bytes, packet.size());
    EXPECT_EQ(wire::decode(data_packet(2)).value().number, 42U);
    EXPECT_EQ(wire::decode(data_packet(2)).value().records, 2U);
}

// Sound CRCs over headers that contradict themselves.
TEST(ReliablePacket, IsRefusedIfItsFieldsContradictEachOther) {
    const auto with = [](Bytes packet, std::size_t at, std::uint8_t value) {
        packet[at] = std::byte{value};
        lib::store_le(std::span(packet).subspan(28), std::uint32_t{0});
        lib::store_le(std::span(packet).subspan(56), std::uint64_t{0});
        lib::store_le(std::span(packet).subspan(28), lib::crc32c(packet));
        return wire::decode(packet).ok();
    };
    const Bytes data = data_packet(3);
    Bytes hello(wire::kHeaderBytes + wire::kControlBytes);
    wire::encode({.type = wire::PacketType::hello, .stream = 3}, nullptr, hello);
    EXPECT_TRUE(with(data, 12, 42));
    EXPECT_FALSE(with(data, 12, 41)) << "number";
    EXPECT_FALSE(with(data, 16, 2)) << "records";
    EXPECT_FALSE(with(data, 20, 111)) << "size";
    EXPECT_FALSE(with(data, 24, 1)) << "type, of which such a body is not";
    EXPECT_TRUE(with(hello, 24, 8));
    EXPECT_FALSE(with(hello, 24, 9)) << "no type";
    EXPECT_FALSE(with(hello, 24, 0)) << "no type";
    EXPECT_FALSE(with(hello, 12, 1)) << "number";
    EXPECT_FALSE(with(hello, 16, 1)) << "records";
    EXPECT_TRUE(with(data, 26, 63));
    EXPECT_FALSE(with(data, 26, 64)) << "stream";
}

TEST(ReliablePacket, IsAuthenticatedByItsHeaderOrAsAWhole) {
    Bytes packet = data_packet(2, &kKey);
    wire::SipHash whole(kKey);
    Bytes covered = packet;
    lib::store_le(std::span(covered).subspan(28), std::uint32_t{0});
    lib::store_le(std::span(covered).subspan(56), std::uint64_t{0});
    whole.add(covered);
    whole.add(std::uint64_t{lib::load_le<std::uint32_t>(std::span(packet).subspan(28))});
    EXPECT_EQ(wire::packet_mac(kKey, packet), whole.result());
    wire::SipHash header(kKey);
    header.add(std::span(covered).first(wire::kHeaderBytes));
    header.add(std::uint64_t{lib::load_le<std::uint32_t>(std::span(packet).subspan(28))});
    EXPECT_EQ(wire::packet_mac(kKey, packet, wire::Covers::header), header.result());
}

TEST(ReliablePacket, OfASessionHasAKeyMadeOfItsNumberAndItsCookie) {
    const auto half = [](std::uint64_t which) {
        Bytes words(24);
        lib::store_le(std::span(words), std::uint64_t{0x1122'3344'5566'7788});
        lib::store_le(std::span(words).subspan(8), std::uint64_t{9});
        lib::store_le(std::span(words).subspan(16), which);
        return hash(words);
    };
    EXPECT_EQ(wire::session_key(kKey, 0x1122'3344'5566'7788, 9), (wire::SipKey{half(0), half(1)}));
}

} // namespace packet_test
