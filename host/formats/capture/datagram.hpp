// SPDX-License-Identifier: MIT
// From a captured frame to the payload of a UDP datagram over IPv4. Pure: bytes in, a verdict and a view out.
// Sources: RFC 768, RFC 791, RFC 1071; IEEE 802.1Q; the list of link types at tcpdump.org.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace host::formats::capture {

enum class Verdict : std::uint8_t {
    datagram,
    unknown_link, // no link type that is known here
    other,        // not IPv4, or not UDP: no business of ours
    vlan,         // more than two tags
    cut,          // captured shorter than its lengths say
    bad_header,   // lengths that contradict each other
    fragment,
    bad_checksum,
};

inline constexpr std::size_t kVerdicts = 8;

// Why a frame was skipped; empty if nothing is lost with it.
[[nodiscard]] std::string_view verdict_text(Verdict verdict);

struct Datagram {
    std::uint32_t source_address = 0;
    std::uint16_t source_port = 0;
    std::span<const std::byte> payload;
};

// Sets `datagram` for Verdict::datagram and Verdict::bad_checksum.
[[nodiscard]] Verdict find_datagram(std::uint16_t link_type, std::span<const std::byte> frame, Datagram& datagram);

} // namespace host::formats::capture
