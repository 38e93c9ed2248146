// SPDX-License-Identifier: MIT
// Plays the other end of a flow: what was sent, what is to arrive, and the time.
#pragma once

#include "tests/support/tracer/sinks.hpp"
#include "tracer/reliable/datagram_peer.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

namespace tests {

class FakePeer final : public tracer::reliable::DatagramPeer {
  public:
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        if (on_send) {
            on_send();
        }
        if (!on_its_way) {
            ++refusals;
            return on_its_way;
        }
        sent.emplace_back(datagram.begin(), datagram.end());
        return {};
    }

    [[nodiscard]] lib::Result<void> poll() override {
        ++polls;
        return polled;
    }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override { return time; }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        if (inbox.empty()) {
            return lib::Error::not_found;
        }
        const Bytes datagram = inbox.front();
        inbox.pop_front();
        if (datagram.size() > out.size()) {
            return lib::Error::no_space;
        }
        std::ranges::copy(datagram, out.begin());
        return datagram.size();
    }

    std::vector<Bytes> sent;
    std::deque<Bytes> inbox;
    lib::Result<void> on_its_way; // what send() returns
    lib::Result<void> polled;     // what poll() returns
    std::size_t refusals = 0;     // of send()
    std::size_t polls = 0;
    lib::Nanoseconds time = lib::milliseconds(1);
    std::function<void()> on_send;
};

} // namespace tests
