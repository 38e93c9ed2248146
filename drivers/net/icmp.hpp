// SPDX-License-Identifier: MIT
// The two ICMP messages that are used here: "destination unreachable", which reports to a sender that a port is closed,
// and the echo, to check whether the machine answers. Host-safe. Source: RFC 792, RFC 1122 section 3.2.2. Context: any.
// ICMP is not authenticated: a host that forges our ports and addresses can stop the export.
#pragma once

#include "drivers/net/ipv4.hpp"
#include "drivers/net/udp.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

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
