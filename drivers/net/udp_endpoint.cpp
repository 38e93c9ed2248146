// SPDX-License-Identifier: MIT
// Searches the peer's card by ARP, and moves datagrams in both directions.
#include "drivers/net/udp_endpoint.hpp"

#include "drivers/net/packets.hpp"
#include "lib/assert.hpp"
#include "lib/copy_bytes.hpp"

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
    // This is done even if the search has already ended without a result.
    m_mac = packet.sender_mac;
    m_state = State::resolved;
    return Learned::address;
}

// --- the endpoint: datagrams out, untrusted frames in ---

lib::Result<void> UdpEndpoint::open(const UdpFlow& flow) {
    if (!flow.valid()) {
        return lib::Error::invalid_argument;
    }
    if (m_device.mac().is_zero()) {
        return lib::Error::io;
    }
    m_flow = flow;
    m_refused = false;
    m_queue_count = 0;
    m_resolver.start(flow.peer_address);
    return {};
}

lib::Result<void> UdpEndpoint::wait_until_ready() {
    while (state() == State::resolving) { // ends: the resolver counts its attempts
        poll();
        m_clock.pause();
    }
    switch (state()) {
    case State::ready:
        return {};
    case State::closed:
        return lib::Error::refused;
    case State::resolving:
    case State::unreachable:
        break;
    }
    return lib::Error::unreachable;
}

UdpEndpoint::State UdpEndpoint::state() const {
    switch (m_resolver.state()) {
    case ArpResolver::State::idle:
        return State::closed;
    case ArpResolver::State::asking:
        return State::resolving;
    case ArpResolver::State::resolved:
        return State::ready;
    case ArpResolver::State::unreachable:
        break;
    }
    return State::unreachable;
}

lib::Result<void> UdpEndpoint::send(std::span<const std::byte> payload) {
    if (payload.size() > kUdpPayloadBytesMax) {
        return lib::Error::invalid_argument;
    }
    switch (state()) {
    case State::closed:
        return lib::Error::refused;
    case State::resolving:
        return lib::Error::busy;
    case State::unreachable:
        m_resolver.ask_again();
        return lib::Error::unreachable;
    case State::ready:
        break;
    }
    if (m_refused) {
        m_refused = false;
        return lib::Error::unreachable;
    }
    lib::ByteWriter frame = begin_frame(m_resolver.mac(), kEtherTypeIpv4);
    write_udp(frame, m_flow, m_packet_id, payload);
    ASSERT(!frame.failed());
    const auto sent = m_device.send_frame(frame.written());
    if (sent) {
        ++m_packet_id;
        ++m_counters.sent;
    }
    return sent;
}

void UdpEndpoint::poll() {
    m_device.poll();
    if (state() == State::closed) {
        return;
    }
    if (m_resolver.request_due(m_clock)) {
        send_arp_request();
    }
    for (std::size_t i = 0; i < kFramesPerPoll; ++i) {
        const auto size = m_device.receive_frame(m_receive_frame);
        if (size) {
            handle_frame(std::span<const std::byte>(m_receive_frame).first(size.value()));
            continue;
        }
        if (size.error() != lib::Error::not_found) {
            ++m_counters.device_errors;
        }
        return; // stop after a recovery of the card, because recovery takes time
    }
}

lib::Result<std::size_t> UdpEndpoint::receive(std::span<std::byte> out) {
    if (m_queue_count == 0) {
        return lib::Error::not_found;
    }
    const QueuedDatagram& datagram = m_queue[m_queue_first];
    m_queue_first = (m_queue_first + 1) % kQueueDatagrams;
    --m_queue_count;
    if (datagram.size_bytes > out.size()) {
        ++m_counters.udp_too_long;
        return lib::Error::no_space;
    }
    lib::copy_bytes(std::span(datagram.bytes).first(datagram.size_bytes), out);
    return datagram.size_bytes;
}

void UdpEndpoint::handle_frame(std::span<const std::byte> frame_untrusted) {
    const auto frame = parse_ethernet(frame_untrusted);
    if (!frame || frame_untrusted.size() > kReceiveFrameBytesMax) {
        ++m_counters.frames_malformed;
        return;
    }
    const bool to_us = frame.value().destination == m_device.mac();
    if (!to_us && frame.value().destination != kBroadcastMac) {
        ++m_counters.frames_not_for_us;
        return;
    }
    switch (frame.value().type) {
    case kEtherTypeArp:
        handle_arp(frame.value());
        return;
    case kEtherTypeIpv4:
        // A broadcast that carries our own address is a mistake or an attack (RFC 1122 section 3.3.6).
        if (!to_us) {
            ++m_counters.frames_not_for_us;
            return;
        }
        handle_ipv4(frame.value());
        return;
    default:
        ++m_counters.frames_other;
    }
}

void UdpEndpoint::send_arp_request() {
    lib::ByteWriter frame = begin_frame(kBroadcastMac, kEtherTypeArp);
    write_arp(frame, {.operation = ArpOperation::request,
                      .sender_mac = m_device.mac(),
                      .sender_address = m_flow.local_address,
                      .target_mac = {},
                      .target_address = m_flow.peer_address});
    const auto sent = m_device.send_frame(frame.written());
    if (!sent && sent.error() == lib::Error::busy) {
        return; // still due
    }
    // A broken card uses up the attempts like a silent peer, because the search must end.
    m_resolver.request_sent(m_clock);
    ++m_counters.arp_requests_sent;
}

void UdpEndpoint::handle_arp(const EthernetFrame& frame) {
    const auto packet = parse_arp(frame.payload);
    if (!packet) {
        ++m_counters.arp_malformed;
        return;
    }
    if (packet.value().target_address != m_flow.local_address) {
        ++m_counters.frames_not_for_us;
        return;
    }
    if (m_resolver.learn(packet.value()) == ArpResolver::Learned::conflict) {
        ++m_counters.arp_conflicts;
    }
    if (packet.value().operation == ArpOperation::request) {
        lib::ByteWriter reply = begin_frame(packet.value().sender_mac, kEtherTypeArp);
        write_arp(reply, {.operation = ArpOperation::reply,
                          .sender_mac = m_device.mac(),
                          .sender_address = m_flow.local_address,
                          .target_mac = packet.value().sender_mac,
                          .target_address = packet.value().sender_address});
        send_reply(reply.written(), m_counters.arp_requests_answered);
    }
}

void UdpEndpoint::handle_ipv4(const EthernetFrame& frame) {
    const auto packet = parse_ipv4(frame.payload);
    if (!packet) {
        ++(packet.error() == lib::Error::unsupported ? m_counters.ip_fragments : m_counters.ip_malformed);
        return;
    }
    if (packet.value().destination != m_flow.local_address) {
        ++m_counters.frames_not_for_us;
        return;
    }
    switch (packet.value().protocol) {
    case static_cast<std::uint8_t>(Ipv4Protocol::udp):
        handle_udp(packet.value());
        return;
    case static_cast<std::uint8_t>(Ipv4Protocol::icmp):
        handle_icmp(frame, packet.value());
        return;
    default:
        ++m_counters.frames_other;
    }
}

void UdpEndpoint::handle_udp(const Ipv4Packet& packet) {
    const auto datagram = parse_udp(packet);
    if (!datagram) {
        ++m_counters.udp_malformed;
        return;
    }
    if (packet.source != m_flow.peer_address || datagram.value().source != m_flow.peer_port ||
        datagram.value().destination != m_flow.local_port) {
        ++m_counters.udp_other_flow;
        return;
    }
    if (m_queue_count == kQueueDatagrams) {
        ++m_counters.udp_queue_full;
        return;
    }
    QueuedDatagram& slot = m_queue[(m_queue_first + m_queue_count) % kQueueDatagrams];
    slot.size_bytes = datagram.value().payload.size();
    lib::copy_bytes(datagram.value().payload, slot.bytes);
    ++m_queue_count;
    ++m_counters.received;
}

void UdpEndpoint::handle_icmp(const EthernetFrame& frame, const Ipv4Packet& packet) {
    const auto message = parse_icmp(packet);
    if (!message) {
        ++m_counters.icmp_malformed;
        return;
    }
    if (refuses_flow(message.value(), m_flow)) {
        m_refused = true;
        ++m_counters.refusals;
        return;
    }
    if (message.value().kind != IcmpKind::echo_request || !packet.source.is_host()) {
        ++m_counters.icmp_ignored;
        return;
    }
    lib::ByteWriter reply = begin_frame(frame.source, kEtherTypeIpv4);
    write_ipv4(reply, {.protocol = Ipv4Protocol::icmp,
                       .source = m_flow.local_address,
                       .destination = packet.source,
                       .id = m_packet_id,
                       .payload_bytes = kIcmpHeaderBytes + message.value().body.size()});
    write_echo_reply(reply, message.value());
    send_reply(reply.written(), m_counters.echoes_answered);
}

void UdpEndpoint::send_reply(std::span<const std::byte> frame, std::uint64_t& answered) {
    ++(m_device.send_frame(frame) ? answered : m_counters.replies_lost);
}

lib::ByteWriter UdpEndpoint::begin_frame(const MacAddress& destination, std::uint16_t type) {
    lib::ByteWriter writer(m_transmit_frame);
    write_ethernet(writer, {.destination = destination, .source = m_device.mac(), .type = type});
    return writer;
}

} // namespace drivers::net
