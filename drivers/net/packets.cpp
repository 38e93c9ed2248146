// SPDX-License-Identifier: MIT
// Reads and writes the headers of IPv4, UDP and ICMP.
#include "drivers/net/packets.hpp"

#include "lib/assert.hpp"

#include <array>

namespace drivers::net {

namespace {

constexpr std::uint8_t kVersion = 4;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kMoreFragments = 0x2000;
constexpr std::uint16_t kFragmentOffsetMask = 0x1FFF;
constexpr std::uint8_t kTimeToLive = 64;

} // namespace

lib::Result<Ipv4Packet> parse_ipv4(std::span<const std::byte> bytes_untrusted) {
    lib::ByteReader reader(bytes_untrusted);
    const auto version_and_length = reader.be<std::uint8_t>();
    const std::size_t header_bytes = (version_and_length & 0x0FU) * 4U;
    if (version_and_length >> 4 != kVersion || header_bytes < kIpv4HeaderBytes ||
        header_bytes > bytes_untrusted.size()) {
        return lib::Error::corrupt;
    }
    InternetChecksum checksum;
    checksum.add(bytes_untrusted.first(header_bytes));
    if (checksum.value() != 0) {
        return lib::Error::corrupt;
    }

    Ipv4Packet packet;
    static_cast<void>(reader.take(1)); // type of service
    const std::size_t total_bytes = reader.be<std::uint16_t>();
    static_cast<void>(reader.take(2)); // identification
    const auto flags_and_offset = reader.be<std::uint16_t>();
    static_cast<void>(reader.take(1)); // time to live: this is the destination
    packet.protocol = reader.be<std::uint8_t>();
    static_cast<void>(reader.take(2)); // checksum, already verified
    packet.source = {reader.be<std::uint32_t>()};
    packet.destination = {reader.be<std::uint32_t>()};
    static_cast<void>(reader.take(header_bytes - kIpv4HeaderBytes)); // options
    if (reader.failed() || total_bytes < header_bytes || total_bytes > bytes_untrusted.size() ||
        total_bytes > kIpv4PacketBytesMax) {
        return lib::Error::corrupt;
    }
    if ((flags_and_offset & (kMoreFragments | kFragmentOffsetMask)) != 0) {
        return lib::Error::unsupported;
    }
    packet.payload = reader.take(total_bytes - header_bytes);
    return packet;
}

void write_ipv4(lib::ByteWriter& writer, const Ipv4Header& header) {
    ASSERT(header.payload_bytes <= kIpv4PacketBytesMax - kIpv4HeaderBytes);
    std::array<std::byte, kIpv4HeaderBytes> bytes{};
    lib::ByteWriter fields(bytes);
    fields.be(static_cast<std::uint8_t>(kVersion << 4 | kIpv4HeaderBytes / 4));
    fields.be(std::uint8_t{0}); // type of service
    fields.be(static_cast<std::uint16_t>(kIpv4HeaderBytes + header.payload_bytes));
    fields.be(header.id);
    fields.be(kDontFragment);
    fields.be(kTimeToLive);
    fields.be(static_cast<std::uint8_t>(header.protocol));
    const std::size_t checksum_offset = fields.offset();
    fields.be(std::uint16_t{0});
    fields.be(header.source.value);
    fields.be(header.destination.value);

    InternetChecksum checksum;
    checksum.add(bytes);
    lib::store_be(std::span<std::byte>(bytes).subspan(checksum_offset), checksum.value());
    writer.put(bytes);
}

// --- UDP ---

namespace {

void add_address(InternetChecksum& checksum, Ipv4Address address) {
    checksum.add(static_cast<std::uint16_t>(address.value >> 16));
    checksum.add(static_cast<std::uint16_t>(address.value));
}

// Returns the sum over addresses, protocol and length that RFC 768 prepends to the datagram.
InternetChecksum pseudo_header(Ipv4Address source, Ipv4Address destination, std::size_t udp_bytes) {
    InternetChecksum checksum;
    add_address(checksum, source);
    add_address(checksum, destination);
    checksum.add(std::uint16_t{static_cast<std::uint8_t>(Ipv4Protocol::udp)});
    checksum.add(static_cast<std::uint16_t>(udp_bytes));
    return checksum;
}

} // namespace

lib::Result<UdpDatagram> parse_udp(const Ipv4Packet& packet) {
    lib::ByteReader reader(packet.payload);
    UdpDatagram datagram;
    datagram.source = {reader.be<std::uint16_t>()};
    datagram.destination = {reader.be<std::uint16_t>()};
    const std::size_t udp_bytes = reader.be<std::uint16_t>();
    const auto sent_checksum = reader.be<std::uint16_t>();
    if (reader.failed() || udp_bytes < kUdpHeaderBytes || udp_bytes > packet.payload.size()) {
        return lib::Error::corrupt;
    }
    if (sent_checksum != 0) {
        InternetChecksum checksum = pseudo_header(packet.source, packet.destination, udp_bytes);
        checksum.add(packet.payload.first(udp_bytes));
        if (checksum.value() != 0) {
            return lib::Error::corrupt;
        }
    }
    datagram.payload = reader.take(udp_bytes - kUdpHeaderBytes);
    return datagram;
}

void write_udp(lib::ByteWriter& writer, const UdpFlow& flow, std::uint16_t packet_id,
               std::span<const std::byte> payload) {
    ASSERT(payload.size() <= kUdpPayloadBytesMax);
    const std::size_t udp_bytes = kUdpHeaderBytes + payload.size();
    write_ipv4(writer, {.protocol = Ipv4Protocol::udp,
                        .source = flow.local_address,
                        .destination = flow.peer_address,
                        .id = packet_id,
                        .payload_bytes = udp_bytes});
    InternetChecksum checksum = pseudo_header(flow.local_address, flow.peer_address, udp_bytes);
    checksum.add(flow.local_port.value);
    checksum.add(flow.peer_port.value);
    checksum.add(static_cast<std::uint16_t>(udp_bytes));
    checksum.add(payload);
    // A sum of 0 would mean "no checksum"; FFFF is the same sum.
    const std::uint16_t sum = checksum.value() == 0 ? std::uint16_t{0xFFFF} : checksum.value();

    writer.be(flow.local_port.value);
    writer.be(flow.peer_port.value);
    writer.be(static_cast<std::uint16_t>(udp_bytes));
    writer.be(sum);
    writer.put(payload);
}

// --- ICMP ---

namespace {

constexpr std::uint8_t kTypeEchoReply = 0;
constexpr std::uint8_t kTypeDestinationUnreachable = 3;
constexpr std::uint8_t kTypeEchoRequest = 8;
constexpr std::uint8_t kCodeFragmentationNeeded = 4;

constexpr IcmpKind kind_of(std::uint8_t type) {
    switch (type) {
    case kTypeEchoRequest:
        return IcmpKind::echo_request;
    case kTypeDestinationUnreachable:
        return IcmpKind::destination_unreachable;
    default:
        return IcmpKind::other;
    }
}

} // namespace

lib::Result<IcmpMessage> parse_icmp(const Ipv4Packet& packet) {
    lib::ByteReader reader(packet.payload);
    const auto type = reader.be<std::uint8_t>();
    IcmpMessage message;
    message.kind = kind_of(type);
    message.code = reader.be<std::uint8_t>();
    static_cast<void>(reader.take(2)); // checksum
    message.rest = reader.be<std::uint32_t>();
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    InternetChecksum checksum;
    checksum.add(packet.payload);
    if (checksum.value() != 0) {
        return lib::Error::corrupt;
    }
    message.body = reader.take(reader.remaining());
    return message;
}

bool refuses_flow(const IcmpMessage& message, const UdpFlow& flow) {
    if (message.kind != IcmpKind::destination_unreachable || message.code == kCodeFragmentationNeeded) {
        return false;
    }
    // The quoted packet is cut after eight bytes of payload, so parse_ipv4() and its length check do not apply.
    lib::ByteReader reader(message.body);
    const auto version_and_length = reader.be<std::uint8_t>();
    const std::size_t header_bytes = (version_and_length & 0x0FU) * 4U;
    static_cast<void>(reader.take(8)); // up to the time to live
    const auto protocol = reader.be<std::uint8_t>();
    static_cast<void>(reader.take(2)); // checksum: routers change it
    const Ipv4Address source{reader.be<std::uint32_t>()};
    const Ipv4Address destination{reader.be<std::uint32_t>()};
    if (version_and_length >> 4 != 4 || header_bytes < kIpv4HeaderBytes) {
        return false;
    }
    static_cast<void>(reader.take(header_bytes - kIpv4HeaderBytes));
    const UdpPort source_port{reader.be<std::uint16_t>()};
    const UdpPort destination_port{reader.be<std::uint16_t>()};
    return !reader.failed() && protocol == static_cast<std::uint8_t>(Ipv4Protocol::udp) &&
           source == flow.local_address && destination == flow.peer_address && source_port == flow.local_port &&
           destination_port == flow.peer_port;
}

void write_echo_reply(lib::ByteWriter& writer, const IcmpMessage& request) {
    ASSERT(request.kind == IcmpKind::echo_request);
    InternetChecksum checksum;
    checksum.add(std::uint16_t{kTypeEchoReply << 8});
    checksum.add(static_cast<std::uint16_t>(request.rest >> 16));
    checksum.add(static_cast<std::uint16_t>(request.rest));
    checksum.add(request.body);
    writer.be(kTypeEchoReply);
    writer.be(std::uint8_t{0});
    writer.be(checksum.value());
    writer.be(request.rest);
    writer.put(request.body);
}

} // namespace drivers::net
