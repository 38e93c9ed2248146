// SPDX-License-Identifier: MIT
// Runs a UDP endpoint on a fake card: 192.168.1.10:10000 towards 192.168.1.1:20000.
#pragma once

#include "drivers/net/udp_endpoint.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_net_device.hpp"

#include <gtest/gtest.h>

namespace test {

inline constexpr drivers::net::Ipv4Address kLocal{0xC0A8'010A};
inline constexpr drivers::net::Ipv4Address kPeer{0xC0A8'0101};
inline constexpr drivers::net::UdpFlow kFlow{kLocal, kPeer, {10000}, {20000}};

class NetFixture : public testing::Test {
  protected:
    static constexpr lib::TickRate FakeRate() { return FakeClock::kRate; }

    void become_ready() {
        ASSERT_TRUE(endpoint.open(kFlow));
        card.arriving.push_back(make_arp(2));
        endpoint.poll();
        ASSERT_EQ(endpoint.state(), drivers::net::UdpEndpoint::State::ready);
    }

    // Lets the peer send this IPv4 packet.
    void arrive(const Bytes& packet) { card.arriving.push_back(make_frame_to_us(0x0800, packet)); }

    // Returns the part of our frame that an ICMP message quotes: its IPv4 header and eight bytes more.
    static Bytes quoted(const Bytes& frame) { return {frame.begin() + 14, frame.begin() + 14 + 28}; }

    FakeClock clock;
    FakeNetDevice card;
    drivers::net::UdpEndpoint endpoint{card, clock};
};

} // namespace test
