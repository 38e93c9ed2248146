// SPDX-License-Identifier: MIT
// ARP packets, and the bounded search for the peer's card.
#include "drivers/net/arp.hpp"

#include "drivers/net/ethernet.hpp"

namespace drivers::net {

namespace {

constexpr std::uint16_t kHardwareEthernet = 1;
constexpr std::uint8_t kMacBytes = 6;
constexpr std::uint8_t kIpv4Bytes = 4;

} // namespace

lib::Result<ArpPacket> parse_arp(std::span<const std::byte> payload_untrusted) {
    lib::ByteReader reader(payload_untrusted);
    const bool known_kind =
        reader.be<std::uint16_t>() == kHardwareEthernet && reader.be<std::uint16_t>() == kEtherTypeIpv4;
    const bool known_sizes = reader.be<std::uint8_t>() == kMacBytes && reader.be<std::uint8_t>() == kIpv4Bytes;
    const auto operation = reader.be<std::uint16_t>();
    ArpPacket packet;
    packet.sender_mac = read_mac(reader);
    packet.sender_address = {reader.be<std::uint32_t>()};
    packet.target_mac = read_mac(reader);
    packet.target_address = {reader.be<std::uint32_t>()};
    if (reader.failed() || !known_kind || !known_sizes || packet.sender_mac.is_group() || packet.sender_mac.is_zero()) {
        return lib::Error::corrupt;
    }
    if (operation != static_cast<std::uint16_t>(ArpOperation::request) &&
        operation != static_cast<std::uint16_t>(ArpOperation::reply)) {
        return lib::Error::corrupt;
    }
    packet.operation = static_cast<ArpOperation>(operation);
    return packet;
}

void write_arp(lib::ByteWriter& writer, const ArpPacket& packet) {
    writer.be(kHardwareEthernet);
    writer.be(kEtherTypeIpv4);
    writer.be(kMacBytes);
    writer.be(kIpv4Bytes);
    writer.be(static_cast<std::uint16_t>(packet.operation));
    writer.put(packet.sender_mac.bytes);
    writer.be(packet.sender_address.value);
    writer.put(packet.target_mac.bytes);
    writer.be(packet.target_address.value);
}

bool ArpResolver::request_due(Clock& clock) {
    if (m_state != State::asking || !m_next_attempt.passed(clock)) {
        return false;
    }
    if (m_attempts == kAttemptsMax) {
        m_state = State::unreachable;
        return false;
    }
    return true;
}

ArpResolver::Learned ArpResolver::learn(const ArpPacket& packet) {
    if (packet.sender_address != m_peer || m_state == State::idle) {
        return Learned::nothing;
    }
    if (m_state == State::resolved) {
        return packet.sender_mac == m_mac ? Learned::nothing : Learned::conflict;
    }
    // This is also done if the search has already ended without a result.
    m_mac = packet.sender_mac;
    m_state = State::resolved;
    return Learned::address;
}

} // namespace drivers::net
