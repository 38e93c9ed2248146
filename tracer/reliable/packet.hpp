// SPDX-License-Identifier: MIT
// TRACER-V2.0 has acknowledged packets. The 24 bytes of TRACER-V1.0 (tracer/export/wire.hpp) keep their places and
// meaning; 40 bytes follow them. Host-safe: the kernel's sender and the collector encode and decode with these
// functions alone.
//
//   0             12       16        20           24     25      26       28      32        40    48      56    64
//   +-------------+--------+---------+------------+------+-------+--------+-------+---------+-----+-------+-----+-----
//   | TRACER-V2.0 | number | records | total size | type | flags | stream | crc32c| session | seq | stamp | mac | body
//   +-------------+--------+---------+------------+------+-------+--------+-------+---------+-----+-------+-----+-----
//
// Numbers are little-endian. The body of DATA is 1..64 records, of every other type 16 bytes with its fields. So no
// answer is longer than what it answers, even if that is DATA with a single record.
//
//   type       direction   seq                          stamp            body
//   HELLO      to host     first packet still in memory sender's clock   Hello
//   HELLO_ACK  to guest    packets that are durable     that of HELLO    HelloAck
//   DATA       to host     this packet, from 0 on       sender's clock   records
//   ACK        to guest    packets received in order    that of DATA     Ack
//   FIN        to host     packets of the stream        sender's clock   Totals
//   FIN_ACK    to guest    packets that are durable     that of FIN      Totals
//   UNKNOWN    to guest    as received                  as received      zeros
//   ABORT      to guest    as received                  as received      Refusal
//
// A stream is what one processor recorded; its packets are numbered from 0 on through all chunks. `number` is seq + 1
// in a DATA packet, as published (32 bits of it), and 0 in others; `records` is 0 in others. A session is one run of
// one guest. The CRC covers the whole packet, with itself and the MAC as zeros, against accidents; the MAC covers the
// same bytes and the CRC, against others. Types differ by direction, so a packet cannot be sent back.
//
// Without a shared key, HELLO and its answers have the MAC 0, and the other packets one by a key that is made of the
// session's cookie: it keeps out a machine that has not seen HELLO_ACK, and no other. So it covers the header alone,
// which contains the CRC.
#pragma once

#include "lib/copy_bytes.hpp"
#include "lib/crc32c.hpp"
#include "lib/crc32c_joined.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/reliable/siphash.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer::reliable {

inline constexpr auto kPacketMagicV2 = [] {
    std::array<std::byte, 12> magic{};
    std::ranges::transform(std::string_view("TRACER-V2.0"), magic.begin(), [](char c) { return std::byte(c); });
    return magic;
}();
inline constexpr std::size_t kHeaderBytes = 64;
inline constexpr std::size_t kControlBytes = 16; // the body of all types but DATA
inline constexpr std::size_t kRecordsMax = 64;   // of one packet
inline constexpr std::size_t kBodyBytesMax = kRecordsMax * kRecordBytes;
inline constexpr std::size_t kBytesMax = kHeaderBytes + kBodyBytesMax;
inline constexpr std::size_t kWindowPackets = 64; // what a sender may have sent beyond what was received in order
inline constexpr std::uint16_t kStreamsMax = 64;  // of one session

enum class PacketType : std::uint8_t {
    hello = 1,
    hello_ack = 2,
    data = 3,
    ack = 4,
    fin = 5,
    fin_ack = 6,
    unknown = 7, // the collector does not know this session: say HELLO
    abort = 8,   // the collector cannot take this session now
};

inline constexpr std::uint8_t kFlagPush = 1;   // DATA: nothing follows until this is durable
inline constexpr std::uint8_t kFlagAsk = 2;    // DATA: nothing follows until this is answered
inline constexpr std::uint8_t kFlagFresh = 1;  // HELLO: of this session, nothing has been acknowledged yet
inline constexpr std::uint8_t kFlagCookie = 1; // HELLO_ACK: no session yet; HELLO is to be repeated with this cookie
inline constexpr std::uint8_t kFlagEnded = 2;  // HELLO_ACK: the session has ended
inline constexpr std::uint8_t kFlagLost = 4;   // HELLO_ACK: packets before seq are lost; the CRC says nothing

struct Header {
    std::uint32_t number = 0;
    std::uint32_t records = 0;
    std::uint32_t size_bytes = 0;
    PacketType type = PacketType::hello;
    std::uint8_t flags = 0;
    std::uint16_t stream = 0; // below kStreamsMax
    std::uint32_t crc32c = 0;
    std::uint64_t session = 0;
    std::uint64_t seq = 0;
    std::uint64_t stamp = 0; // ns, of a clock that only its owner knows
    std::uint64_t mac = 0;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.number, self.records, self.size_bytes, self.type, self.flags, self.stream, self.crc32c,
                self.session, self.seq, self.stamp, self.mac);
    }
};

// --- the bodies; each lists its fields once, for both directions -----------------------------------------------------

struct Hello {
    std::uint64_t cookie = 0; // of the last HELLO_ACK; 0: none yet
    std::uint32_t tsc_khz = 0;
    std::uint16_t format_version = kFormatVersion;
    std::uint16_t reserved = 0;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.cookie, self.tsc_khz, self.format_version, self.reserved);
    }
};

struct HelloAck {
    std::uint64_t cookie = 0;
    std::uint32_t crc32c = 0; // of the stream's durable bytes: whether they are this sender's
    std::uint32_t window = 0; // packets that may be sent beyond seq

    // Returns kFlagCookie's random number, from which a sender derives another session if it needs one.
    [[nodiscard]] constexpr std::uint64_t random() const { return (std::uint64_t{window} << 32) | crc32c; }

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.cookie, self.crc32c, self.window);
    }
};

enum class RefusalReason : std::uint64_t {
    sessions = 1, // too many
    store = 2,    // the disk, a quota, or files that another collector left
};

struct Refusal {
    RefusalReason reason{};
    std::uint64_t reserved = 0;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.reason, self.reserved);
    }
};

struct Ack {
    std::uint64_t received = 0;    // bit i: packet seq + 1 + i has been received
    std::uint32_t not_durable = 0; // of the packets before seq: the last ones, which a crash may still undo
    std::uint32_t window = 0;      // packets that may be sent beyond seq; 0: the disk is full

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.received, self.not_durable, self.window);
    }
};

struct Totals {
    std::uint64_t bytes = 0;
    std::uint32_t crc32c = 0;
    std::uint32_t streams = 0; // of the session

    friend bool operator==(const Totals&, const Totals&) = default;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.bytes, self.crc32c, self.streams);
    }
};

// Writes a body. Precondition: out.size() >= kControlBytes.
template <typename Body>
constexpr void encode_body(const Body& body, std::span<std::byte> out) {
    lib::ByteWriter writer(out.first(kControlBytes));
    Body::fields(body, tracer::detail::PayloadWriter{writer});
    ASSERT(!writer.failed() && writer.offset() == kControlBytes);
}

// Reads a body. Precondition: decode() accepted the packet, and its type is not DATA.
template <typename Body>
[[nodiscard]] constexpr Body decode_body(std::span<const std::byte> packet) {
    Body body;
    lib::ByteReader reader(packet.subspan(kHeaderBytes));
    Body::fields(body, tracer::detail::PayloadReader{reader});
    ASSERT(!reader.failed());
    return body;
}

// --- the packet ------------------------------------------------------------------------------------------------------

namespace detail {

inline constexpr std::size_t kCrcOffset = 28;
inline constexpr std::size_t kMacOffset = 56;

// Passes header and body of a packet, or its header alone, to a sum, with CRC and MAC as zeros.
template <typename Sum>
constexpr void cover(std::span<const std::byte> bytes, Sum&& sum) {
    std::array<std::byte, kHeaderBytes> header{};
    lib::copy_bytes(bytes.first(kHeaderBytes), header);
    lib::store_le(std::span(header).subspan(kCrcOffset), std::uint32_t{0});
    lib::store_le(std::span(header).subspan(kMacOffset), std::uint64_t{0});
    sum(std::span<const std::byte>(header));
    sum(bytes.subspan(kHeaderBytes));
}

[[nodiscard]] constexpr std::uint32_t packet_crc(std::span<const std::byte> packet) {
    std::uint32_t crc = 0;
    cover(packet, [&crc](std::span<const std::byte> bytes) { crc = lib::crc32c(bytes, crc); });
    return crc;
}

inline constexpr lib::Crc32cJoiner kWholeBody(kBodyBytesMax);

} // namespace detail

// Returns the CRC of something and the body of a packet after it. Nearly all bodies have the greatest size.
[[nodiscard]] constexpr std::uint32_t joined_with_body(std::uint32_t before, std::uint32_t body_crc32c,
                                                       std::size_t body_bytes) {
    return body_bytes == kBodyBytesMax ? detail::kWholeBody.joined(before, body_crc32c)
                                       : lib::crc32c_joined(before, body_crc32c, body_bytes);
}

// Returns whether the datagram claims to be of this version; nothing else about it is known.
[[nodiscard]] constexpr bool is_version_2(std::span<const std::byte> datagram) {
    return datagram.size() >= kPacketMagicV2.size() &&
           std::ranges::equal(datagram.first(kPacketMagicV2.size()), kPacketMagicV2);
}

enum class Covers : std::uint8_t {
    packet,
    header, // without a shared key: above
};

// Returns the MAC of an encoded packet, whatever is in its place.
[[nodiscard]] constexpr std::uint64_t packet_mac(const SipKey& key, std::span<const std::byte> packet,
                                                 Covers covers = Covers::packet) {
    SipHash hash(key);
    detail::cover(covers == Covers::packet ? packet : packet.first(kHeaderBytes),
                  [&hash](std::span<const std::byte> bytes) { hash.add(bytes); });
    hash.add(lib::load_le<std::uint32_t>(packet.subspan(detail::kCrcOffset)));
    return hash.result();
}

// Completes a packet whose body has been written after kHeaderBytes: header, CRC, and the MAC if there is a key. Counts
// and sizes follow from the type. Precondition: the size of `packet` is that of header and body, and body_crc32c is the
// body's.
constexpr void encode(Header header, const SipKey* key, std::span<std::byte> packet, Covers covers,
                      std::uint32_t body_crc32c) {
    ASSERT(packet.size() > kHeaderBytes && packet.size() <= kBytesMax && packet.size() % kRecordBytes == 0);
    const bool data = header.type == PacketType::data;
    ASSERT(data || packet.size() == kHeaderBytes + kControlBytes);
    header.number = data ? static_cast<std::uint32_t>(header.seq + 1) : 0;
    header.records = data ? static_cast<std::uint32_t>((packet.size() - kHeaderBytes) / kRecordBytes) : 0;
    header.size_bytes = static_cast<std::uint32_t>(packet.size());
    header.crc32c = 0;
    header.mac = 0;
    lib::ByteWriter writer(packet);
    writer.put(kPacketMagicV2);
    Header::fields(header, tracer::detail::PayloadWriter{writer});
    ASSERT(!writer.failed() && writer.offset() == kHeaderBytes);
    const std::uint32_t header_crc = lib::crc32c(packet.first(kHeaderBytes)); // CRC and MAC are zeros so far
    lib::store_le(packet.subspan(detail::kCrcOffset),
                  joined_with_body(header_crc, body_crc32c, packet.size() - kHeaderBytes));
    if (key != nullptr) {
        lib::store_le(packet.subspan(detail::kMacOffset), packet_mac(*key, packet, covers));
    }
}

constexpr void encode(const Header& header, const SipKey* key, std::span<std::byte> packet,
                      Covers covers = Covers::packet) {
    encode(header, key, packet, covers, lib::crc32c(packet.subspan(kHeaderBytes)));
}

// Decodes a packet. corrupt: magic, sizes, type, counts or stream contradict each other or the datagram, or the CRC is
// wrong. The MAC is not checked: authentic() does that, with the key that belongs to the type.
[[nodiscard]] constexpr lib::Result<Header> decode(std::span<const std::byte> datagram_untrusted) {
    if (datagram_untrusted.size() <= kHeaderBytes || datagram_untrusted.size() > kBytesMax ||
        !is_version_2(datagram_untrusted)) {
        return lib::Error::corrupt;
    }
    lib::ByteReader reader(datagram_untrusted.subspan(kPacketMagicV2.size()));
    Header header;
    Header::fields(header, tracer::detail::PayloadReader{reader});
    const std::size_t body = datagram_untrusted.size() - kHeaderBytes;
    const bool data = header.type == PacketType::data;
    const bool sound = data ? header.records * kRecordBytes == body && body % kRecordBytes == 0 &&
                                  header.number == static_cast<std::uint32_t>(header.seq + 1)
                            : header.records == 0 && body == kControlBytes && header.number == 0;
    if (reader.failed() || header.size_bytes != datagram_untrusted.size() || !sound ||
        header.type < PacketType::hello || header.type > PacketType::abort || header.stream >= kStreamsMax ||
        header.crc32c != detail::packet_crc(datagram_untrusted)) {
        return lib::Error::corrupt;
    }
    return header;
}

// Returns whether the MAC of a decoded packet is right; without a key, it must be 0. The time taken does not depend on
// where they differ.
[[nodiscard]] constexpr bool authentic(const Header& header, const SipKey* key, std::span<const std::byte> packet,
                                       Covers covers = Covers::packet) {
    return (header.mac ^ (key != nullptr ? packet_mac(*key, packet, covers) : 0)) == 0;
}

// Returns the key of one session, so that packets of an earlier one are not accepted again. `cookie` is the one of its
// HELLO; `key`, without a shared one, is zeros.
[[nodiscard]] constexpr SipKey session_key(const SipKey& key, std::uint64_t session, std::uint64_t cookie) {
    const auto half = [&](std::uint64_t which) {
        SipHash hash(key);
        hash.add(session);
        hash.add(cookie);
        hash.add(which);
        return hash.result();
    };
    return {half(0), half(1)};
}

// Returns whether packets of a type precede the session, so that the key itself authenticates them.
[[nodiscard]] constexpr bool before_session(PacketType type) {
    return type == PacketType::hello || type == PacketType::hello_ack || type == PacketType::unknown ||
           type == PacketType::abort;
}

} // namespace tracer::reliable
