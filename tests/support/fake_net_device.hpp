// SPDX-License-Identifier: MIT
// This network card keeps transmitted frames and delivers the frames of a test; a builder makes the frames that a peer
// would send. The builder writes bytes by hand, without the code under test, so that an error cannot affect both.
#pragma once

#include "drivers/net/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace test {

using Bytes = std::vector<std::byte>;

class FakeNetDevice final : public drivers::net::Device {
  public:
    static constexpr drivers::net::MacAddress kMac{
        {std::byte{0x52}, std::byte{0x54}, std::byte{0x00}, std::byte{0x12}, std::byte{0x34}, std::byte{0x56}}};

    std::vector<Bytes> sent;
    std::deque<Bytes> arriving;
    std::optional<lib::Error> send_error;
    std::optional<lib::Error> receive_error;
    drivers::net::MacAddress address = kMac;
    int polls = 0;
    bool busy_sending = false;

    [[nodiscard]] drivers::net::MacAddress mac() const override { return address; }

    [[nodiscard]] lib::Result<void> send_frame(std::span<const std::byte> frame) override {
        if (send_error) {
            return *send_error;
        }
        EXPECT_GE(frame.size(), 14U);
        EXPECT_LE(frame.size(), drivers::net::kFrameBytesMax);
        EXPECT_TRUE(std::equal(address.bytes.begin(), address.bytes.end(), frame.begin() + 6)) << "not our address";
        sent.emplace_back(frame.begin(), frame.end());
        return {};
    }

    [[nodiscard]] lib::Result<std::size_t> receive_frame(std::span<std::byte> out) override {
        if (receive_error) {
            return *receive_error;
        }
        if (arriving.empty()) {
            return lib::Error::not_found;
        }
        const Bytes frame = arriving.front();
        arriving.pop_front();
        if (frame.size() > out.size()) {
            return lib::Error::no_space;
        }
        std::ranges::copy(frame, out.begin());
        return frame.size();
    }

    void poll() override { ++polls; }

    [[nodiscard]] bool sending() const override { return busy_sending; }
};

// --- frames ---------------------------------------------------------------------------------------------------------

inline Bytes bytes(std::initializer_list<int> values) {
    Bytes result;
    for (const int value : values) {
        result.push_back(static_cast<std::byte>(value));
    }
    return result;
}

inline Bytes& operator+=(Bytes& left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

inline void put16(Bytes& packet, std::size_t offset, std::size_t value) {
    packet[offset] = static_cast<std::byte>(value >> 8);
    packet[offset + 1] = static_cast<std::byte>(value);
}

inline std::uint32_t sum16(std::span<const std::byte> data) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        sum += static_cast<std::uint32_t>(data[i]) << (i % 2 == 0 ? 8 : 0);
    }
    return sum;
}

inline std::uint16_t folded(std::uint32_t sum) {
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

// Fills in the checksum of the IPv4 header at the start of `packet`.
inline void seal_ipv4(Bytes& packet) {
    const std::size_t header = (static_cast<std::size_t>(packet[0]) & 0x0F) * 4;
    put16(packet, 10, 0);
    put16(packet, 10, folded(sum16(std::span(packet).first(std::min(header, packet.size())))));
}

// Fills in the checksum of a UDP datagram after an IPv4 header of 20 bytes.
inline void seal_udp(Bytes& packet) {
    const std::span whole(packet);
    put16(packet, 26, 0);
    put16(packet, 26,
          folded(sum16(whole.subspan(12, 8)) + 17 + static_cast<std::uint32_t>(packet.size() - 20) +
                 sum16(whole.subspan(20))));
}

// Makes a packet from 192.168.1.1 to 192.168.1.10.
inline Bytes make_ipv4(int protocol, const Bytes& payload) {
    Bytes packet = bytes({0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, protocol, 0, 0, 192, 168, 1, 1, 192, 168, 1, 10});
    packet += payload;
    put16(packet, 2, packet.size());
    seal_ipv4(packet);
    return packet;
}

// Makes a datagram from port 20000 to port 10000.
inline Bytes make_udp(const Bytes& payload) {
    Bytes datagram = bytes({0x4E, 0x20, 0x27, 0x10, 0, 0, 0, 0});
    datagram += payload;
    put16(datagram, 4, datagram.size());
    Bytes packet = make_ipv4(17, datagram);
    seal_udp(packet);
    return packet;
}

inline Bytes make_icmp(int type, int code, const Bytes& body) {
    Bytes message = bytes({type, code, 0, 0, 0x12, 0x34, 0x00, 0x01});
    message += body;
    put16(message, 2, folded(sum16(message)));
    return make_ipv4(1, message);
}

// Makes a frame from the peer's card (52:55:c0:a8:01:01) to ours.
inline Bytes make_frame_to_us(int type, const Bytes& payload) {
    Bytes frame = bytes({0x52, 0x54, 0, 0x12, 0x34, 0x56, 0x52, 0x55, 0xC0, 0xA8, 0x01, 0x01, type >> 8, type & 0xFF});
    frame += payload;
    return frame;
}

// Makes the packet by which the peer announces that 192.168.1.1 is its card, or requests 192.168.1.10.
inline Bytes make_arp(int operation) {
    return make_frame_to_us(0x0806,
                            bytes({0,   1,   8, 0, 6,    4,    0, operation, 0x52, 0x55, 0xC0, 0xA8, 0x01, 0x01,
                                   192, 168, 1, 1, 0x52, 0x54, 0, 0x12,      0x34, 0x56, 192,  168,  1,    10}));
}

} // namespace test
