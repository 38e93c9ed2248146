// SPDX-License-Identifier: MIT
// A datagram flow in both directions: what ReliableSink needs of a network. Networks are separate.
#pragma once

#include "tracer/export/sink_udp.hpp"

#include <cstddef>
#include <span>

namespace tracer::reliable {

class DatagramPeer : public DatagramSender {
  public:
    // The oldest datagram of the peer that poll() has taken in. Returns its size; bounded. not_found: none is waiting;
    // no_space: it was longer than `out` and is gone.
    [[nodiscard]] virtual lib::Result<std::size_t> receive(std::span<std::byte> out) = 0;

  protected:
    constexpr DatagramPeer() = default;
    ~DatagramPeer() = default;
};

} // namespace tracer::reliable
