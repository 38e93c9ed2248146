// SPDX-License-Identifier: MIT
// Handles the packets that the endpoint exchanges, from Ethernet to UDP and ICMP: each is parsed from untrusted bytes
// and written by one function. ARP is part of udp_endpoint.hpp. Host-safe.
#pragma once

#include "drivers/net/address.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

// The Internet checksum is the complement of the ones' complement sum of all 16-bit words. The sum does not depend on
// byte order (RFC 1071 section 2B), so words are added in this machine's little-endian order and swapped once at the
// end. It detects an odd number of wrong bits, but not two exchanged words. Context: any.

class InternetChecksum {
  public:
    // Adds bytes. A single last byte counts as the upper half of a word. Precondition: no earlier span had an odd size.
    constexpr void add(std::span<const std::byte> bytes) {
        ASSERT(!m_odd);
        m_odd = bytes.size() % 2 != 0;
        for (; bytes.size() >= 4 * kWordBytes; bytes = bytes.subspan(4 * kWordBytes)) {
            add_le(lib::load_le<std::uint64_t>(bytes));
            add_le(lib::load_le<std::uint64_t>(bytes.subspan(kWordBytes)));
            add_le(lib::load_le<std::uint64_t>(bytes.subspan(2 * kWordBytes)));
            add_le(lib::load_le<std::uint64_t>(bytes.subspan(3 * kWordBytes)));
        }
        for (; bytes.size() >= 2; bytes = bytes.subspan(2)) {
            add_le(lib::load_le<std::uint16_t>(bytes));
        }
        if (!bytes.empty()) {
            add_le(static_cast<std::uint8_t>(bytes[0]));
        }
    }

    // Adds a word in host order, which is big-endian in the packet.
    constexpr void add(std::uint16_t word) { add_le(swapped(word)); }

    // Returns the value for the checksum field of the packet (as a number, to be stored big-endian). The value over a
    // packet with a correct checksum is 0.
    [[nodiscard]] constexpr std::uint16_t value() const {
        std::uint64_t sum = m_sum_le;
        while (sum > 0xFFFF) { // at most five turns: each adds the carries back
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        return static_cast<std::uint16_t>(~swapped(static_cast<std::uint16_t>(sum)));
    }

  private:
    static constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

    // Adds four 16-bit words at a time and the carry: 2^16 - 1 divides 2^64 - 1, so folding later gives the same sum.
    constexpr void add_le(std::uint64_t words) {
        m_sum_le += words;
        m_sum_le += m_sum_le < words ? 1 : 0;
    }

    static constexpr std::uint16_t swapped(std::uint16_t word) {
        return static_cast<std::uint16_t>(word << 8 | word >> 8);
    }

    std::uint64_t m_sum_le = 0;
    bool m_odd = false;
};

// The Ethernet II header has sender, receiver and type of the payload. VLAN tags and 802.3 length frames are not
// supported. Source: RFC 894, IEEE 802.3 clause 3. Context: any.
//
//   0             6             12       14
//   +-------------+-------------+--------+---------------
//   | destination | source      | type   | payload            big-endian
//   +-------------+-------------+--------+---------------

inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kEtherTypeArp = 0x0806;

// Reads an address; a failed reader yields the zero address.
[[nodiscard]] constexpr MacAddress read_mac(lib::ByteReader& reader) {
    MacAddress mac;
    std::ranges::copy(reader.take(mac.bytes.size()), mac.bytes.begin());
    return mac;
}

struct EthernetFrame {
    MacAddress destination;
    MacAddress source;
    std::uint16_t type = 0;
    std::span<const std::byte> payload{}; // with the sender's padding, if any
};

// Parses a frame. corrupt: it is shorter than the header or sent by a group address.
[[nodiscard]] constexpr lib::Result<EthernetFrame> parse_ethernet(std::span<const std::byte> frame_untrusted) {
    lib::ByteReader reader(frame_untrusted);
    EthernetFrame frame;
    frame.destination = read_mac(reader);
    frame.source = read_mac(reader);
    frame.type = reader.be<std::uint16_t>();
    frame.payload = reader.take(reader.remaining());
    if (reader.failed() || frame.source.is_group()) {
        return lib::Error::corrupt;
    }
    return frame;
}

struct EthernetHeader {
    MacAddress destination;
    MacAddress source;
    std::uint16_t type = 0;
};

constexpr void write_ethernet(lib::ByteWriter& writer, const EthernetHeader& header) {
    writer.put(header.destination.bytes);
    writer.put(header.source.bytes);
    writer.be(header.type);
}

// The IPv4 header is read from untrusted bytes and written without options. Fragments are recognised and refused: no
// supported protocol needs them, and reassembly would need memory. Source: RFC 791 section 3.1. Context: any.
//
//   0          1      2              4          6              8     9         10         12       16            20
//   +-----+----+------+--------------+----------+--------------+-----+---------+----------+--------+-------------+---
//   | 4   |IHL | TOS  | total length | id       | flags,offset | TTL | protocol| checksum | source | destination | ...
//   +-----+----+------+--------------+----------+--------------+-----+---------+----------+--------+-------------+---

inline constexpr std::size_t kIpv4HeaderBytes = 20; // without options
inline constexpr std::size_t kIpv4PacketBytesMax = 1500;

enum class Ipv4Protocol : std::uint8_t { icmp = 1, udp = 17 };

struct Ipv4Packet {
    std::uint8_t protocol = 0;
    Ipv4Address source;
    Ipv4Address destination;
    std::span<const std::byte> payload{}; // of exactly the total length; options are skipped
};

// Parses a packet. corrupt: it is not version 4, its IHL is below 5, its total length is shorter than the header,
// longer than the bytes or than Ethernet carries, or its checksum is wrong. unsupported: it is a fragment.
[[nodiscard]] lib::Result<Ipv4Packet> parse_ipv4(std::span<const std::byte> bytes_untrusted);

struct Ipv4Header {
    Ipv4Protocol protocol = Ipv4Protocol::udp;
    Ipv4Address source;
    Ipv4Address destination;
    std::uint16_t id = 0;
    std::size_t payload_bytes = 0; // at most kIpv4PacketBytesMax - kIpv4HeaderBytes
};

// Writes the header with its checksum; the payload follows.
void write_ipv4(lib::ByteWriter& writer, const Ipv4Header& header);

// The UDP header has a checksum over the pseudo header. We always send one; a received datagram may have none (0), as
// the standard allows and some emulated networks do. Source: RFC 768. Context: any.

inline constexpr std::size_t kUdpHeaderBytes = 8;
inline constexpr std::size_t kUdpPayloadBytesMax = kIpv4PacketBytesMax - kIpv4HeaderBytes - kUdpHeaderBytes;
static_assert(kUdpPayloadBytesMax == 1472);

// Holds the four numbers that identify a flow, as this machine sees it.
struct UdpFlow {
    Ipv4Address local_address;
    Ipv4Address peer_address;
    UdpPort local_port;
    UdpPort peer_port;

    friend constexpr bool operator==(const UdpFlow&, const UdpFlow&) = default;

    // Returns whether the flow is between two different machines, without port 0.
    [[nodiscard]] constexpr bool valid() const {
        return local_address.is_host() && peer_address.is_host() && local_address != peer_address &&
               local_port.value != 0 && peer_port.value != 0;
    }
};

struct UdpDatagram {
    UdpPort source;
    UdpPort destination;
    std::span<const std::byte> payload{};
};

// Parses a datagram. corrupt: the length is below 8 or exceeds the packet, or the checksum is wrong. Precondition: the
// packet's protocol is UDP.
[[nodiscard]] lib::Result<UdpDatagram> parse_udp(const Ipv4Packet& packet);

// Writes IPv4 header, UDP header and payload, from local to peer. Precondition: payload.size() <= kUdpPayloadBytesMax.
void write_udp(lib::ByteWriter& writer, const UdpFlow& flow, std::uint16_t packet_id,
               std::span<const std::byte> payload);

// Two ICMP messages are used here: "destination unreachable", which reports to a sender that a port is closed, and the
// echo, by which others check whether the machine answers. Source: RFC 792, RFC 1122 section 3.2.2. Context: any. ICMP
// is not authenticated: a host that forges our ports and addresses can stop the export.

inline constexpr std::size_t kIcmpHeaderBytes = 8;

enum class IcmpKind : std::uint8_t { other, echo_request, destination_unreachable };

struct IcmpMessage {
    IcmpKind kind = IcmpKind::other;
    std::uint8_t code = 0;
    std::uint32_t rest = 0;            // echo: identifier and sequence number
    std::span<const std::byte> body{}; // echo: data; unreachable: the beginning of the undelivered packet
};

// Parses a message. corrupt: it is shorter than the header, or its checksum is wrong. Precondition: the packet's
// protocol is ICMP.
[[nodiscard]] lib::Result<IcmpMessage> parse_icmp(const Ipv4Packet& packet);

// Returns whether this message reports that a datagram of ours on this flow cannot be delivered. "Fragmentation needed"
// (code 4) does not, because it refers to one size.
[[nodiscard]] bool refuses_flow(const IcmpMessage& message, const UdpFlow& flow);

// Writes the answer to an echo request, ICMP header and body. Precondition: message.kind is echo_request.
void write_echo_reply(lib::ByteWriter& writer, const IcmpMessage& request);

} // namespace drivers::net
