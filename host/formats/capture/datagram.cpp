// SPDX-License-Identifier: MIT
// Finds the datagram in a frame: through the header of the link layer, tags of VLANs and the headers of IP to UDP.
#include "host/formats/capture/capture.hpp"

#include "lib/crc32c.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>

namespace host::formats::capture {

namespace {

using Bytes = std::span<const std::byte>;

// These are link types.
constexpr std::uint16_t kNull = 0;
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kRawOld = 12;
constexpr std::uint16_t kRawOpenBsd = 14;
constexpr std::uint16_t kRaw = 101;
constexpr std::uint16_t kLoop = 108;
constexpr std::uint16_t kLinuxCooked = 113;
constexpr std::uint16_t kIpv4 = 228;
constexpr std::uint16_t kIpv6 = 229;
constexpr std::uint16_t kLinuxCooked2 = 276;

constexpr std::uint16_t kTypeIpv4 = 0x0800;
constexpr std::uint16_t kTypeIpv6 = 0x86DD;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::size_t kTagsMax = 2;
constexpr std::size_t kIpHeaderBytesMin = 20;
constexpr std::size_t kIpv6HeaderBytes = 40;
constexpr std::size_t kUdpHeaderBytes = 8;

// The family of a packet as the capturing system numbers it: IPv4 on every system, IPv6 on Linux, OpenBSD and NetBSD,
// FreeBSD, macOS.
constexpr auto kFamiliesOfIp = std::to_array<std::uint32_t>({2, 10, 24, 28, 30});

std::uint16_t half(Bytes bytes, std::size_t at) {
    return lib::load_be<std::uint16_t>(bytes.subspan(at));
}

bool is_tag(std::uint16_t type) {
    return type == 0x8100 || type == 0x88A8 || type == 0x9100;
}

// Skips VLAN tags: the type is at type_at, and tags or the packet begin at body_at.
Verdict strip_tags(Bytes frame, std::size_t type_at, std::size_t body_at, Bytes& packet) {
    for (std::size_t tags = 0; frame.size() >= std::max(type_at + 2, body_at); ++tags) {
        const std::uint16_t type = half(frame, type_at);
        if (!is_tag(type)) {
            packet = frame.subspan(body_at);
            return type == kTypeIpv4 || type == kTypeIpv6 ? Verdict::datagram : Verdict::other;
        }
        if (tags == kTagsMax) {
            return Verdict::vlan;
        }
        type_at = body_at + 2;
        body_at += 4;
    }
    return Verdict::cut;
}

// Returns the verdict for what follows the header of the link layer; `datagram`: it is IP, according to the link layer.
Verdict strip_link(std::uint16_t link_type, Bytes frame, Bytes& packet) {
    packet = frame;
    switch (link_type) {
    case kEthernet:
        return strip_tags(frame, 12, 14, packet);
    case kLinuxCooked:
        return strip_tags(frame, 14, 16, packet);
    case kLinuxCooked2:
        return strip_tags(frame, 0, 20, packet);
    case kNull:
    case kLoop: {
        if (frame.size() < 4) {
            return Verdict::cut;
        }
        packet = frame.subspan(4);
        const bool inet = std::ranges::any_of(kFamiliesOfIp, [&](std::uint32_t family) { // in either byte order
            return lib::load_le<std::uint32_t>(frame) == family || lib::load_be<std::uint32_t>(frame) == family;
        });
        return inet ? Verdict::datagram : Verdict::other;
    }
    case kRaw:
    case kRawOld:
    case kRawOpenBsd:
    case kIpv4:
    case kIpv6:
        return Verdict::datagram;
    default:
        return Verdict::unknown_link;
    }
}

// Returns the one's complement sum, not folded.
std::uint64_t sum(Bytes bytes) {
    std::uint64_t total = 0;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
        total += half(bytes, at);
    }
    return bytes.size() % 2 == 0 ? total : total + (std::to_integer<std::uint64_t>(bytes.back()) << 8);
}

std::uint16_t fold(std::uint64_t total) {
    while (total > 0xFFFF) {
        total = (total & 0xFFFF) + (total >> 16);
    }
    return static_cast<std::uint16_t>(total);
}

// A checksum of 0 means that there is none. A capture that was taken on the sender or on the loopback device may have
// only the sum of the pseudo header, because a sender that leaves the sum to its network adapter writes only that part.
bool checksum_holds(Bytes addresses, Bytes udp) {
    const std::uint16_t written = half(udp, 6);
    const std::uint64_t pseudo = sum(addresses) + kProtocolUdp + udp.size();
    return written == 0 || fold(pseudo + sum(udp)) == 0xFFFF || written == fold(pseudo);
}

// The parts of an IP packet that its checksum and its sender need.
struct IpPacket {
    Bytes addresses; // source, then destination
    Bytes inner;     // without link padding
};

// Returns `datagram` if the packet has UDP in it.
Verdict strip_ipv4(Bytes packet, IpPacket& ip) {
    if (packet.size() < kIpHeaderBytesMin) {
        return Verdict::cut;
    }
    if (std::to_integer<std::uint8_t>(packet[9]) != kProtocolUdp) {
        return Verdict::other;
    }
    const std::size_t header_bytes = std::size_t{4} * (std::to_integer<unsigned>(packet[0]) & 0x0F);
    const std::size_t total_bytes = half(packet, 2);
    if (header_bytes < kIpHeaderBytesMin || total_bytes < header_bytes) {
        return Verdict::bad_header;
    }
    if (total_bytes > packet.size()) {
        return Verdict::cut;
    }
    ip = {packet.subspan(12, 8), packet.subspan(header_bytes, total_bytes - header_bytes)};
    return (half(packet, 6) & 0x3FFF) != 0 ? Verdict::fragment : Verdict::datagram;
}

// Does the same, and skips the headers that may be in front of UDP's.
Verdict strip_ipv6(Bytes packet, IpPacket& ip) {
    constexpr std::uint8_t kHopByHop = 0;
    constexpr std::uint8_t kRouting = 43;
    constexpr std::uint8_t kFragment = 44;
    constexpr std::uint8_t kOptions = 60;
    if (packet.size() < kIpv6HeaderBytes || kIpv6HeaderBytes + half(packet, 4) > packet.size()) {
        return Verdict::cut;
    }
    ip = {packet.subspan(8, 32), packet.subspan(kIpv6HeaderBytes, half(packet, 4))};
    auto next = std::to_integer<std::uint8_t>(packet[6]);
    while (next == kHopByHop || next == kRouting || next == kOptions) {
        const std::size_t bytes = ip.inner.size() < 8 ? 8 : 8 * (std::to_integer<std::size_t>(ip.inner[1]) + 1);
        if (bytes > ip.inner.size()) {
            return Verdict::bad_header;
        }
        next = std::to_integer<std::uint8_t>(ip.inner[0]);
        ip.inner = ip.inner.subspan(bytes);
    }
    return next == kProtocolUdp ? Verdict::datagram : next == kFragment ? Verdict::fragment : Verdict::other;
}

} // namespace

std::string_view verdict_text(Verdict verdict) {
    constexpr std::array<std::string_view, kVerdicts> kTexts = {
        "", // datagram
        "", // unknown_link
        "", // other
        "more than two VLAN tags",
        "captured shorter than they were",
        "lengths that contradict each other",
        "fragments of IP packets",
        "a wrong UDP checksum",
    };
    return kTexts.at(static_cast<std::size_t>(verdict));
}

Verdict find_datagram(std::uint16_t link_type, Bytes frame, Datagram& datagram) {
    Bytes packet;
    if (const Verdict link = strip_link(link_type, frame, packet); link != Verdict::datagram) {
        return link;
    }
    if (packet.empty()) {
        return Verdict::cut;
    }
    const unsigned version = std::to_integer<unsigned>(packet[0]) >> 4;
    IpPacket ip;
    const Verdict verdict = version == 4   ? strip_ipv4(packet, ip)
                            : version == 6 ? strip_ipv6(packet, ip)
                                           : Verdict::other;
    if (verdict != Verdict::datagram) {
        return verdict;
    }
    const Bytes inner = ip.inner;
    if (inner.size() < kUdpHeaderBytes || half(inner, 4) < kUdpHeaderBytes || half(inner, 4) > inner.size()) {
        return Verdict::bad_header;
    }
    const Bytes udp = inner.first(half(inner, 4));
    const Bytes source = ip.addresses.first(ip.addresses.size() / 2);
    datagram = {version == 4 ? lib::load_be<std::uint32_t>(source) : lib::crc32c(source), half(udp, 0),
                udp.subspan(kUdpHeaderBytes)};
    return checksum_holds(ip.addresses, udp) ? Verdict::datagram : Verdict::bad_checksum;
}

} // namespace host::formats::capture
