// SPDX-License-Identifier: MIT
// Tests the bytes of each type of packet, written down here field by field as docs/trace-format.md has them: an encoder
// and a decoder that share a list of fields agree about any order.
#include "tracer/reliable/packet.hpp"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace packet_layout_test {

namespace wire = tracer::reliable;
using Bytes = std::vector<std::byte>;

// Fields one after the other, little-endian.
class Fields {
  public:
    Fields& text(std::string_view text) {
        for (const char character : text) {
            m_bytes.push_back(static_cast<std::byte>(character));
        }
        return *this;
    }

    Fields& u8(std::uint64_t value) { return number(value, 1); }

    Fields& u16(std::uint64_t value) { return number(value, 2); }

    Fields& u32(std::uint64_t value) { return number(value, 4); }

    Fields& u64(std::uint64_t value) { return number(value, 8); }

    [[nodiscard]] const Bytes& bytes() const { return m_bytes; }

  private:
    Fields& number(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) {
            m_bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
        return *this;
    }

    Bytes m_bytes;
};

template <typename Body>
Bytes body_of(const Body& body) {
    Bytes bytes(wire::kControlBytes);
    wire::encode_body(body, bytes);
    return bytes;
}

// As a receiver reads it.
template <typename Body>
Body read(const Fields& fields) {
    Bytes packet(wire::kHeaderBytes);
    packet.insert(packet.end(), fields.bytes().begin(), fields.bytes().end());
    return wire::decode_body<Body>(packet);
}

TEST(PacketLayout, OfTheHeader) {
    Bytes packet(wire::kHeaderBytes + 32, std::byte{0x5A});
    const wire::SipKey key{1, 2};
    wire::encode({.type = wire::PacketType::data,
                  .flags = 0x02,
                  .stream = 0x0021,
                  .session = 0x3132'3334'3536'3738,
                  .seq = 0x4142'4344'4546'4748,
                  .stamp = 0x5152'5354'5556'5758},
                 &key, packet);
    const auto header = [&packet](std::uint32_t crc32c, std::uint64_t mac) {
        Fields fields;
        fields.text(std::string_view("TRACER-V2.0\0", 12)).u32(0x4546'4749).u32(2).u32(packet.size());
        fields.u8(3).u8(0x02).u16(0x0021).u32(crc32c).u64(0x3132'3334'3536'3738).u64(0x4142'4344'4546'4748);
        return fields.u64(0x5152'5354'5556'5758).u64(mac).bytes();
    };
    Bytes zeros = header(0, 0);
    zeros.insert(zeros.end(), 32, std::byte{0x5A});
    const std::uint32_t crc32c = lib::crc32c(zeros);
    wire::SipHash hash(key);
    hash.add(zeros);
    hash.add(std::uint64_t{crc32c});
    const std::uint64_t mac = hash.result();
    EXPECT_EQ(Bytes(packet.begin(), packet.begin() + 64), header(crc32c, mac));

    const auto decoded = wire::decode(packet);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded.value().number, 0x4546'4749U);
    EXPECT_EQ(decoded.value().records, 2U);
    EXPECT_EQ(decoded.value().size_bytes, packet.size());
    EXPECT_EQ(decoded.value().type, wire::PacketType::data);
    EXPECT_EQ(decoded.value().flags, 0x02);
    EXPECT_EQ(decoded.value().stream, 0x21);
    EXPECT_EQ(decoded.value().crc32c, crc32c);
    EXPECT_EQ(decoded.value().session, 0x3132'3334'3536'3738U);
    EXPECT_EQ(decoded.value().seq, 0x4142'4344'4546'4748U);
    EXPECT_EQ(decoded.value().stamp, 0x5152'5354'5556'5758U);
    EXPECT_EQ(decoded.value().mac, mac);
}

TEST(PacketLayout, OfHello) {
    Fields fields;
    fields.u64(0x1112'1314'1516'1718).u32(0x2122'2324).u16(1).u16(0);
    EXPECT_EQ(body_of(wire::Hello{.cookie = 0x1112'1314'1516'1718, .tsc_khz = 0x2122'2324}), fields.bytes());
    Fields later;
    later.u64(1).u32(2).u16(3).u16(4);
    const auto hello = read<wire::Hello>(later);
    EXPECT_EQ(hello.cookie, 1U);
    EXPECT_EQ(hello.tsc_khz, 2U);
    EXPECT_EQ(hello.format_version, 3U);
    EXPECT_EQ(hello.reserved, 4U);
}

TEST(PacketLayout, OfTheAnswerToHello) {
    Fields fields;
    fields.u64(1).u32(0x2122'2324).u32(0x3132'3334);
    EXPECT_EQ(body_of(wire::HelloAck{.cookie = 1, .crc32c = 0x2122'2324, .window = 0x3132'3334}), fields.bytes());
    const auto ack = read<wire::HelloAck>(fields);
    EXPECT_EQ(ack.cookie, 1U);
    EXPECT_EQ(ack.crc32c, 0x2122'2324U);
    EXPECT_EQ(ack.window, 0x3132'3334U);
    EXPECT_EQ(ack.random(), 0x3132'3334'2122'2324U);
}

TEST(PacketLayout, OfAnAcknowledgement) {
    Fields fields;
    fields.u64(0x1112'1314'1516'1718).u32(2).u32(3);
    EXPECT_EQ(body_of(wire::Ack{.received = 0x1112'1314'1516'1718, .not_durable = 2, .window = 3}), fields.bytes());
    const auto ack = read<wire::Ack>(fields);
    EXPECT_EQ(ack.received, 0x1112'1314'1516'1718U);
    EXPECT_EQ(ack.not_durable, 2U);
    EXPECT_EQ(ack.window, 3U);
}

TEST(PacketLayout, OfTheTotals) {
    Fields fields;
    fields.u64(0x1112'1314'1516'1718).u32(2).u32(3);
    const wire::Totals totals{.bytes = 0x1112'1314'1516'1718, .crc32c = 2, .streams = 3};
    EXPECT_EQ(body_of(totals), fields.bytes());
    EXPECT_EQ(read<wire::Totals>(fields), totals);
}

TEST(PacketLayout, OfARefusal) {
    Fields fields;
    fields.u64(2).u64(0);
    EXPECT_EQ(body_of(wire::Refusal{.reason = wire::RefusalReason::store}), fields.bytes());
    Fields later;
    later.u64(1).u64(7);
    EXPECT_EQ(read<wire::Refusal>(later).reason, wire::RefusalReason::sessions);
    EXPECT_EQ(read<wire::Refusal>(later).reserved, 7U);
}

// A header that was received may be sent on: its sums are those of the new packet.
TEST(PacketLayout, HasItsOwnSumsWhateverTheHeaderSays) {
    Bytes fresh(wire::kHeaderBytes + 16, std::byte{0x5A});
    Bytes again = fresh;
    for (const wire::SipKey& key : {wire::SipKey{1, 2}, wire::SipKey{}}) {
        const wire::SipKey* const given = key == wire::SipKey{} ? nullptr : &key;
        wire::encode({.type = wire::PacketType::data, .session = 9}, given, fresh);
        wire::encode({.number = 7,
                      .records = 8,
                      .size_bytes = 9,
                      .type = wire::PacketType::data,
                      .crc32c = 10,
                      .session = 9,
                      .mac = 11},
                     given, again);
        EXPECT_EQ(again, fresh);
    }
}

TEST(PacketLayout, NumbersItsTypesByDirection) {
    using wire::PacketType;
    const std::vector<PacketType> types{PacketType::hello,   PacketType::hello_ack, PacketType::data,
                                        PacketType::ack,     PacketType::fin,       PacketType::fin_ack,
                                        PacketType::unknown, PacketType::abort};
    for (std::size_t i = 0; i < types.size(); ++i) {
        EXPECT_EQ(static_cast<std::size_t>(types[i]), i + 1);
        EXPECT_EQ(wire::before_session(types[i]), i < 2 || i > 5) << i;
    }
}

} // namespace packet_layout_test
