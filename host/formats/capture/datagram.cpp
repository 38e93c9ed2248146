// SPDX-License-Identifier: MIT
#include "host/formats/capture/datagram.hpp"

#include "lib/endian.hpp"

#include <array>

namespace host::formats::capture {

namespace {

using Bytes = std::span<const std::byte>;

// Link types.
constexpr std::uint16_t kNull = 0;
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kRawOld = 12;
constexpr std::uint16_t kRawOpenBsd = 14;
constexpr std::uint16_t kRaw = 101;
constexpr std::uint16_t kLoop = 108;
constexpr std::uint16_t kLinuxCooked = 113;
constexpr std::uint16_t kIpv4 = 228;
constexpr std::uint16_t kLinuxCooked2 = 276;

constexpr std::uint16_t kTypeIpv4 = 0x0800;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::size_t kTagsMax = 2;
constexpr std::size_t kIpHeaderBytesMin = 20;
constexpr std::size_t kUdpHeaderBytes = 8;

std::uint16_t half(Bytes bytes, std::size_t at) {
    return lib::load_be<std::uint16_t>(bytes.subspan(at));
}

bool is_tag(std::uint16_t type) {
    return type == 0x8100 || type == 0x88A8 || type == 0x9100;
}

// `type` is at type_at; tags or the packet follow it.
Verdict strip_tags(Bytes frame, std::size_t type_at, Bytes& packet) {
    for (std::size_t tags = 0; frame.size() >= type_at + 2; ++tags, type_at += 4) {
        const std::uint16_t type = half(frame, type_at);
        if (!is_tag(type)) {
            packet = frame.subspan(type_at + 2);
            return type == kTypeIpv4 ? Verdict::datagram : Verdict::other;
        }
        if (tags == kTagsMax) {
            return Verdict::vlan;
        }
    }
    return Verdict::cut;
}

// What follows the link layer's header; datagram: IPv4, as far as the link layer says.
Verdict strip_link(std::uint16_t link_type, Bytes frame, Bytes& packet) {
    packet = frame;
    switch (link_type) {
    case kEthernet:
        return strip_tags(frame, 12, packet);
    case kLinuxCooked:
        return strip_tags(frame, 14, packet);
    case kLinuxCooked2:
        if (frame.size() < 20) {
            return Verdict::cut;
        }
        packet = frame.subspan(20);
        return half(frame, 0) == kTypeIpv4 ? Verdict::datagram : Verdict::other;
    case kNull:
    case kLoop: {
        constexpr std::uint32_t kFamilyInet = 2; // of IPv4 everywhere; in the byte order of the capturing machine
        if (frame.size() < 4) {
            return Verdict::cut;
        }
        packet = frame.subspan(4);
        const bool inet =
            lib::load_le<std::uint32_t>(frame) == kFamilyInet || lib::load_be<std::uint32_t>(frame) == kFamilyInet;
        return inet ? Verdict::datagram : Verdict::other;
    }
    case kRaw:
    case kRawOld:
    case kRawOpenBsd:
    case kIpv4:
        return Verdict::datagram;
    default:
        return Verdict::unknown_link;
    }
}

// One's complement sum, not folded.
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

// A checksum of 0 means that there is none. A capture taken on the sender or on the loopback device may contain the sum
// of the pseudo header alone: a sender that leaves the sum to its network adapter writes only that part.
bool checksum_holds(Bytes addresses, Bytes udp) {
    const std::uint16_t written = half(udp, 6);
    const std::uint64_t pseudo = sum(addresses) + kProtocolUdp + udp.size();
    return written == 0 || fold(pseudo + sum(udp)) == 0xFFFF || written == fold(pseudo);
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
    if (packet.size() < kIpHeaderBytesMin) {
        return Verdict::cut;
    }
    const auto first = std::to_integer<unsigned>(packet[0]);
    if (first >> 4 != 4 || std::to_integer<std::uint8_t>(packet[9]) != kProtocolUdp) {
        return Verdict::other;
    }
    const std::size_t header_bytes = std::size_t{4} * (first & 0x0F);
    const std::size_t total_bytes = half(packet, 2);
    if (header_bytes < kIpHeaderBytesMin || total_bytes < header_bytes) {
        return Verdict::bad_header;
    }
    if (total_bytes > packet.size()) {
        return Verdict::cut;
    }
    if ((half(packet, 6) & 0x3FFF) != 0) {
        return Verdict::fragment;
    }
    const Bytes inner = packet.subspan(header_bytes, total_bytes - header_bytes); // without link padding
    if (inner.size() < kUdpHeaderBytes || half(inner, 4) < kUdpHeaderBytes || half(inner, 4) > inner.size()) {
        return Verdict::bad_header;
    }
    const Bytes udp = inner.first(half(inner, 4));
    datagram = {lib::load_be<std::uint32_t>(packet.subspan(12)), half(udp, 0), udp.subspan(kUdpHeaderBytes)};
    return checksum_holds(packet.subspan(12, 8), udp) ? Verdict::datagram : Verdict::bad_checksum;
}

} // namespace host::formats::capture
