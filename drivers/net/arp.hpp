// SPDX-License-Identifier: MIT
// Address resolution for one peer: the packet, and a resolver with a bounded number of requests. Not a general cache:
// the tracer communicates only with its collector. The first answer is kept: a later claim to the peer's address is
// counted and ignored, so no other host on the segment can redirect a running export. Source: RFC 826. Context: as the
// endpoint.
#pragma once

#include "drivers/clock.hpp"
#include "drivers/net/address.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

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

} // namespace drivers::net
