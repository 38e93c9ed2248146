// SPDX-License-Identifier: MIT
// Binds a UDP socket over IPv4 with a large receive buffer, for Linux. It counts the datagrams that the host's kernel
// discarded before they could be read (SO_RXQ_OVFL).
#pragma once

#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace host::collector {

struct Address {
    std::uint32_t ipv4 = 0; // host byte order
    std::uint16_t port = 0;
    // This is the session of TRACER-V2.0, none for TRACER-V1.0. What comes from the same address in another session, or
    // by the other protocol, is taken to be from another sender, because nothing proves that it is not.
    std::optional<std::uint64_t> session = std::nullopt;

    friend bool operator==(const Address&, const Address&) = default;
};

[[nodiscard]] std::string to_text(const Address& address);

// Reads "ADDR:PORT", with ADDR in dotted form. invalid_argument for anything else.
[[nodiscard]] lib::Result<Address> parse_address(const std::string& text);

class UdpSocket {
  public:
    static constexpr int kReceiveBufferBytes = 4 * 1024 * 1024;

    UdpSocket() = default;
    UdpSocket(const UdpSocket&) = delete;
    UdpSocket& operator=(const UdpSocket&) = delete;
    ~UdpSocket();

    // exists: the port is taken; refused: no permission; not_found: no such local address; io.
    [[nodiscard]] lib::Result<void> bind(const Address& address);

    // Returns the address to which it is bound, with the port that the system chose for port 0.
    [[nodiscard]] Address local() const { return m_local; }

    // Returns the size that the host granted.
    [[nodiscard]] int receive_buffer_bytes() const { return m_buffer_bytes; }

    [[nodiscard]] bool granted_enough() const { return m_buffer_bytes >= kReceiveBufferBytes; }

    // Waits at most timeout_ms for a datagram, or until `event`, a descriptor or -1, becomes readable. Returns whether
    // a datagram is there.
    [[nodiscard]] bool wait(int timeout_ms, int event = -1) const;

    struct Datagram {
        std::size_t size_bytes = 0; // as sent, even if `out` was too small for it
        Address sender;
    };

    // busy: no datagram is there; unreachable: an ICMP error, which may be ignored; io.
    [[nodiscard]] lib::Result<Datagram> receive(std::span<std::byte> out);

    // Sends one datagram. Errors are ignored, because a datagram may be lost on its way anyway.
    void send(std::span<const std::byte> datagram, const Address& to) const;

    // Returns how many datagrams the host's kernel has discarded so far.
    [[nodiscard]] std::uint32_t overflows() const { return m_overflows; }

  private:
    int m_descriptor = -1;
    int m_buffer_bytes = 0;
    Address m_local;
    std::uint32_t m_overflows = 0;
};

} // namespace host::collector
