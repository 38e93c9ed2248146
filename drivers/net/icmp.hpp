// SPDX-License-Identifier: MIT
// The two ICMP messages that matter here: "destination unreachable", which tells a sender that nobody listens, and the
// echo, so that a person can ask whether the machine is there. Host-safe. Source: RFC 792, RFC 1122 section 3.2.2.
// Context: any. Nothing authenticates ICMP: whoever can forge our ports and addresses can silence us.
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
    std::span<const std::byte> body{}; // echo: data; unreachable: the head of the packet that could not be delivered
};

// corrupt: shorter than the header or wrong checksum. Precondition: the packet's protocol is ICMP.
[[nodiscard]] lib::Result<IcmpMessage> parse_icmp(const Ipv4Packet& packet);

// Whether this message says that a datagram of ours on this flow cannot be delivered. "Fragmentation needed" (code 4)
// does not say so: it is about one size.
[[nodiscard]] bool refuses_flow(const IcmpMessage& message, const UdpFlow& flow);

// Writes the answer to an echo request, ICMP header and body. Precondition: message.kind is echo_request.
void write_echo_reply(lib::ByteWriter& writer, const IcmpMessage& request);

} // namespace drivers::net
