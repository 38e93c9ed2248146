// SPDX-License-Identifier: MIT
// Declares what the export needs of a network: a datagram flow in both directions, and the protocol that chunks leave
// by. Networks are separate.
#pragma once

#include "tracer/export/sink_udp.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::reliable {

// Names the protocol by which the chunks of a run leave over the network.
enum class Protocol : std::uint8_t {
    automatic, // V2 if a collector answers it, else V1
    v1,        // TRACER-V1.0: published, no answer
    v2,        // TRACER-V2.0: acknowledged
};

class DatagramPeer : public DatagramSender {
  public:
    // Takes the oldest datagram of the peer that poll() has taken in, and returns its size, in bounded time. not_found:
    // none is waiting; no_space: it was longer than `out` and is gone.
    [[nodiscard]] virtual lib::Result<std::size_t> receive(std::span<std::byte> out) = 0;

  protected:
    constexpr DatagramPeer() = default;
    ~DatagramPeer() = default;
};

} // namespace tracer::reliable
