// SPDX-License-Identifier: MIT
// Is a real UDP flow over the loopback for the sender of the acknowledged export.
#pragma once

#include "tracer/reliable/datagram_peer.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace support {

class UdpFlow final : public tracer::reliable::DatagramPeer {
  public:
    explicit UdpFlow(std::uint16_t port)
        : m_descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        where.sin_port = htons(port);
        EXPECT_EQ(::connect(m_descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof(where)), 0);
    }

    ~UdpFlow() { ::close(m_descriptor); }

    [[nodiscard]] static lib::Nanoseconds clock() {
        const std::chrono::nanoseconds since = std::chrono::steady_clock::now().time_since_epoch();
        return {static_cast<std::uint64_t>(since.count())};
    }

    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        if (::send(m_descriptor, datagram.data(), datagram.size(), 0) >= 0) {
            return {};
        }
        return errno == ECONNREFUSED ? lib::Error::unreachable : lib::Error::busy;
    }

    [[nodiscard]] lib::Result<void> poll() override { return {}; }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override { return clock(); }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        const ssize_t size = ::recv(m_descriptor, out.data(), out.size(), 0);
        return size >= 0 ? lib::Result<std::size_t>(static_cast<std::size_t>(size)) : lib::Error::not_found;
    }

  private:
    int m_descriptor;
};

} // namespace support
