// SPDX-License-Identifier: MIT
// The IPv4 header, read from untrusted bytes and written without options. Fragments are recognised and refused: no
// supported protocol needs them, and reassembly would need memory. Host-safe. Source: RFC 791 section 3.1. Context:
// any.
//
//   0          1      2              4          6              8     9         10         12       16            20
//   +-----+----+------+--------------+----------+--------------+-----+---------+----------+--------+-------------+---
//   | 4   |IHL | TOS  | total length | id       | flags,offset | TTL | protocol| checksum | source | destination | ...
//   +-----+----+------+--------------+----------+--------------+-----+---------+----------+--------+-------------+---
#pragma once

#include "drivers/net/address.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

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

} // namespace drivers::net
