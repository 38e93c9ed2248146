// SPDX-License-Identifier: MIT
// The Ethernet II header: sender, receiver and type of the payload. VLAN tags and 802.3 length frames are not
// supported. Host-safe. Source: RFC 894, IEEE 802.3 clause 3. Context: any.
//
//   0             6             12       14
//   +-------------+-------------+--------+---------------
//   | destination | source      | type   | payload            big-endian
//   +-------------+-------------+--------+---------------
#pragma once

#include "drivers/net/address.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

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

} // namespace drivers::net
