// SPDX-License-Identifier: MIT
// Declares a UDP endpoint with one peer, and the resolution of that peer's address.
#pragma once

#include "drivers/clock.hpp"
#include "drivers/net/address.hpp"
#include "drivers/net/device.hpp"
#include "drivers/net/packets.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

// Resolves the address of one peer with a bounded number of requests. There is no general cache: the tracer
// communicates only with its collector. The first answer is kept: a later claim to the peer's address is counted and
// ignored, so no other host on the segment can redirect a running export. Source: RFC 826. Context: that of the
// endpoint.

enum class ArpOperation : std::uint16_t { request = 1, reply = 2 };

struct ArpPacket {
    ArpOperation operation = ArpOperation::request;
    MacAddress sender_mac;
    Ipv4Address sender_address;
    MacAddress target_mac; // zero in a request
    Ipv4Address target_address;
};

// Parses a packet. corrupt: it is too short, not about Ethernet and IPv4, neither request nor reply, or its sender is
// no card.
[[nodiscard]] lib::Result<ArpPacket> parse_arp(std::span<const std::byte> payload_untrusted);

void write_arp(lib::ByteWriter& writer, const ArpPacket& packet);

class ArpResolver {
  public:
    enum class State : std::uint8_t { idle, asking, resolved, unreachable };

    static constexpr std::uint32_t kAttemptsMax = 5;
    static constexpr lib::Nanoseconds kAttemptInterval = lib::milliseconds(200);

    void start(Ipv4Address peer) {
        m_state = State::asking;
        m_peer = peer;
        m_attempts = 0;
        m_next_attempt = {};
    }

    // Returns whether a request is due now. After the last one's interval without an answer the state is unreachable.
    [[nodiscard]] bool request_due(Clock& clock);

    // Asks once more after a search without a result.
    void ask_again() {
        if (m_state == State::unreachable) {
            m_state = State::asking;
            m_attempts = kAttemptsMax - 1;
        }
    }

    // Must be called after a request was passed to the card; a refused request remains due.
    void request_sent(Clock& clock) {
        ++m_attempts;
        m_next_attempt = Deadline(clock, kAttemptInterval);
    }

    enum class Learned : std::uint8_t { nothing, address, conflict };

    // Processes a packet that was addressed to us.
    Learned learn(const ArpPacket& packet);

    [[nodiscard]] State state() const { return m_state; }

    // Returns the peer's address, which is valid once it is resolved.
    [[nodiscard]] const MacAddress& mac() const { return m_mac; }

  private:
    State m_state = State::idle;
    Ipv4Address m_peer;
    MacAddress m_mac;
    std::uint32_t m_attempts = 0;
    Deadline m_next_attempt;
};

// An endpoint is one UDP flow between this machine and one peer on the same segment: it resolves the peer's address,
// sends datagrams, receives those of the peer, and answers ARP and echo requests. There are no routes, no second flow,
// no fragments. Only wait_until_ready() waits: every other call does a bounded piece of work, so the same endpoint
// serves a low-priority task and a polling loop with interrupts off. Source: RFC 768, 791, 792, 826. Frames are
// untrusted: every field is checked by one bounded cursor before it is used.
//
// Usage:  UdpEndpoint endpoint(nic, clock);
//         endpoint.open({.local_address = ..., .peer_address = ..., .local_port = {10000}, .peer_port = {20000}});
//         endpoint.wait_until_ready();                                       // or poll() until state() changes
//         while (endpoint.send(packet).error() == Error::busy) endpoint.poll();
// Context: task or irq-off, one user at a time.

struct UdpCounters {
    std::uint64_t sent = 0;     // datagrams passed to the card
    std::uint64_t received = 0; // datagrams of our flow, queued for receive()
    std::uint64_t refusals = 0; // the peer refused them by ICMP
    std::uint64_t arp_requests_sent = 0;
    std::uint64_t arp_requests_answered = 0;
    std::uint64_t arp_conflicts = 0; // another card claimed the peer's address; ignored
    std::uint64_t echoes_answered = 0;
    std::uint64_t replies_lost = 0; // ARP or echo replies for which the card had no buffer
    // These count received frames that were dropped, by reason.
    std::uint64_t frames_malformed = 0; // no Ethernet header, or longer than Ethernet allows
    std::uint64_t frames_not_for_us = 0;
    std::uint64_t frames_other = 0; // neither ARP nor IPv4, or an unsupported protocol in IPv4
    std::uint64_t arp_malformed = 0;
    std::uint64_t ip_malformed = 0;
    std::uint64_t ip_fragments = 0;
    std::uint64_t udp_malformed = 0;
    std::uint64_t udp_other_flow = 0;
    std::uint64_t udp_queue_full = 0; // receive() was not called often enough
    std::uint64_t udp_too_long = 0;   // longer than the buffer passed to receive()
    std::uint64_t icmp_malformed = 0;
    std::uint64_t icmp_ignored = 0;  // understood, but not about our flow
    std::uint64_t device_errors = 0; // receive_frame() failed; see the card's own counters
};

class UdpEndpoint {
  public:
    enum class State : std::uint8_t {
        closed,
        resolving,   // resolving the peer's address
        ready,       // send() and receive() work
        unreachable, // the peer did not answer; open() and send() try again
    };

    // One poll() processes at most this many frames, which bounds the cost of a flood.
    static constexpr std::size_t kFramesPerPoll = 8;
    static constexpr std::size_t kQueueDatagrams = kFramesPerPoll;

    constexpr UdpEndpoint(Device& device, Clock& clock)
        : m_device(device)
        , m_clock(clock) {}

    UdpEndpoint(const UdpEndpoint&) = delete;
    UdpEndpoint& operator=(const UdpEndpoint&) = delete;

    // Sets the flow and begins to resolve the peer; discards datagrams queued for an earlier flow. invalid_argument:
    // the flow is not valid; io: the card has not been started.
    [[nodiscard]] lib::Result<void> open(const UdpFlow& flow);

    // Polls until the peer has answered, for at most ArpResolver's attempts times its interval (1 s). unreachable: it
    // has not answered. refused: open() was not called.
    [[nodiscard]] lib::Result<void> wait_until_ready();

    [[nodiscard]] State state() const;

    // Returns the flow of the last open() that succeeded.
    [[nodiscard]] const UdpFlow& flow() const { return m_flow; }

    // Sends one datagram of 0..kUdpPayloadBytesMax bytes. busy: the peer is not resolved yet or the card has no buffer:
    // poll() and try again; unreachable: no host answered the resolution (one more request follows) or the peer has
    // reported since the last call that the port is closed (reported once; the next call sends again);
    // invalid_argument: the payload is too long; refused: open() was not called; timeout, io: the card's.
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> payload);

    // Does a bounded piece of work: it polls the card, sends at most one ARP request, and takes at most kFramesPerPoll
    // frames.
    void poll();

    // Returns Device::sending(): whether switching the machine off now would lose a frame.
    [[nodiscard]] bool sending() const { return m_device.sending(); }

    // Copies the oldest datagram from the peer and returns its size, which may be 0. not_found: none is waiting;
    // no_space: it was longer than `out` and is gone.
    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out);

    // Processes one received frame. poll() calls this; it is public because it is the complete attack surface towards
    // the segment, and is tested as such.
    void handle_frame(std::span<const std::byte> frame_untrusted);

    [[nodiscard]] const UdpCounters& counters() const { return m_counters; }

  private:
    struct QueuedDatagram {
        std::size_t size_bytes = 0;
        std::array<std::byte, kUdpPayloadBytesMax> bytes{};
    };

    void send_arp_request();
    void handle_arp(const EthernetFrame& frame);
    void handle_ipv4(const EthernetFrame& frame);
    void handle_udp(const Ipv4Packet& packet);
    void handle_icmp(const EthernetFrame& frame, const Ipv4Packet& packet);
    void send_reply(std::span<const std::byte> frame, std::uint64_t& answered);

    // Begins a frame in m_transmit_frame.
    [[nodiscard]] lib::ByteWriter begin_frame(const MacAddress& destination, std::uint16_t type);

    Device& m_device;
    Clock& m_clock;
    UdpFlow m_flow;
    ArpResolver m_resolver;
    UdpCounters m_counters;
    std::uint16_t m_packet_id = 0;
    bool m_refused = false; // the peer has refused by ICMP, and that is not yet reported
    std::size_t m_queue_first = 0;
    std::size_t m_queue_count = 0;
    std::array<std::byte, kFrameBytesMax> m_transmit_frame{};
    std::array<std::byte, kReceiveFrameBytesMax> m_receive_frame{};
    std::array<QueuedDatagram, kQueueDatagrams> m_queue{};
};

} // namespace drivers::net
