// SPDX-License-Identifier: MIT
// Reading and writing UDP datagrams.
#include "drivers/net/udp.hpp"

#include "drivers/net/checksum.hpp"
#include "lib/assert.hpp"

namespace drivers::net {

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
    // 0 would mean "no checksum"; FFFF is the same sum.
    const std::uint16_t sum = checksum.value() == 0 ? std::uint16_t{0xFFFF} : checksum.value();

    writer.be(flow.local_port.value);
    writer.be(flow.peer_port.value);
    writer.be(static_cast<std::uint16_t>(udp_bytes));
    writer.be(sum);
    writer.put(payload);
}

} // namespace drivers::net
