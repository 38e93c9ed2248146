// SPDX-License-Identifier: MIT
// The UDP header and its checksum over the pseudo header. We always send a checksum; a received datagram may have none
// (0), as the standard allows and some emulated networks do. Host-safe. Source: RFC 768. Context: any.
#pragma once

#include "drivers/net/address.hpp"
#include "drivers/net/ipv4.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

inline constexpr std::size_t kUdpHeaderBytes = 8;
inline constexpr std::size_t kUdpPayloadBytesMax = kIpv4PacketBytesMax - kIpv4HeaderBytes - kUdpHeaderBytes;
static_assert(kUdpPayloadBytesMax == 1472);

// The four numbers that identify a flow, from the view of this machine.
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

} // namespace drivers::net
