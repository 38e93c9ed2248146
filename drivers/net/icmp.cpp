// SPDX-License-Identifier: MIT
// Reading ICMP messages and answering the echo.
#include "drivers/net/icmp.hpp"

#include "drivers/net/checksum.hpp"
#include "lib/assert.hpp"

namespace drivers::net {

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
