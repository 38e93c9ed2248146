// SPDX-License-Identifier: MIT
// Builds network captures: UDP datagrams over IPv4 in Ethernet frames, in pcap or pcapng of either byte order. The
// parts are bytes that a test may damage before they are joined.
#pragma once

#include "tests/support/host_trace_builder.hpp"

#include <cstdint>
#include <initializer_list>

namespace support {

class BigBytes {
  public:
    // Puts a value, with more than eight bytes with zeros before (big) or after.
    BigBytes& put(std::uint64_t value, unsigned size, bool big = true) {
        for (unsigned i = 0; i < size; ++i) {
            const unsigned byte = big ? size - 1 - i : i;
            m_bytes.push_back(static_cast<std::byte>(byte < sizeof(value) ? value >> (8 * byte) : 0));
        }
        return *this;
    }

    BigBytes& put(const Bytes& bytes) {
        m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
        return *this;
    }

    Bytes m_bytes;
};

inline std::uint64_t internet_sum(const Bytes& bytes, std::size_t begin) {
    std::uint64_t sum = 0;
    for (std::size_t i = begin; i < bytes.size(); ++i) {
        sum += std::to_integer<std::uint64_t>(bytes[i]) << ((i - begin) % 2 == 0 ? 8 : 0);
    }
    return sum;
}

inline std::uint16_t internet_fold(std::uint64_t sum) {
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(sum);
}

// Makes a packet from 10.0.2.`host`, port 20000, to 10.0.2.2, with a correct checksum.
inline Bytes ip_packet(const Bytes& payload, std::uint8_t host = 15) {
    BigBytes ip;
    ip.put(0x45, 1).put(0, 1).put(28 + payload.size(), 2).put(0, 4).put(64, 1).put(17, 1).put(0, 2);
    ip.put(0x0A000200U | host, 4).put(0x0A000202, 4);
    ip.put(20000, 2).put(20000, 2).put(8 + payload.size(), 2).put(0, 2).put(payload);
    const std::uint64_t pseudo =
        internet_sum({ip.m_bytes.begin() + 12, ip.m_bytes.begin() + 20}, 0) + 17 + 8 + payload.size();
    const auto checksum = static_cast<std::uint16_t>(~internet_fold(pseudo + internet_sum(ip.m_bytes, 20)));
    ip.m_bytes[26] = static_cast<std::byte>(checksum >> 8);
    ip.m_bytes[27] = static_cast<std::byte>(checksum & 0xFF);
    return ip.m_bytes;
}

inline Bytes ethernet(const Bytes& packet, std::initializer_list<std::uint16_t> tags = {}) {
    BigBytes frame;
    frame.put(0x525400123456, 6).put(0x525400123457, 6);
    for (const std::uint16_t tag : tags) {
        frame.put(tag, 2).put(7, 2);
    }
    return frame.put(0x0800, 2).put(packet).m_bytes;
}

class Pcap {
  public:
    explicit Pcap(bool big = false, std::uint32_t magic = 0xA1B2C3D4, std::uint32_t link = 1)
        : m_big(big) {
        m_out.put(magic, 4, big).put(2, 2, big).put(4, 2, big).put(0, 8, big).put(65535, 4, big).put(link, 4, big);
    }

    Pcap& add(const Bytes& frame) { return raw(frame, frame.size(), frame.size()); }

    Pcap& raw(const Bytes& frame, std::uint64_t captured, std::uint64_t original) {
        m_out.put(0, 8, m_big).put(captured, 4, m_big).put(original, 4, m_big).put(frame);
        return *this;
    }

    [[nodiscard]] const Bytes& bytes() const { return m_out.m_bytes; }

  private:
    bool m_big;
    BigBytes m_out;
};

class Pcapng {
  public:
    explicit Pcapng(bool big = false)
        : m_big(big) {
        section();
    }

    Pcapng& section() {
        BigBytes body;
        body.put(0x1A2B3C4D, 4, m_big).put(1, 2, m_big).put(0, 2, m_big).put(~std::uint64_t{0}, 8, m_big);
        return block(0x0A0D0D0A, body.m_bytes);
    }

    Pcapng& interface(std::uint16_t link) {
        return block(1, BigBytes().put(link, 2, m_big).put(0, 2, m_big).put(0, 4, m_big).m_bytes);
    }

    Pcapng& add(const Bytes& frame, std::uint32_t interface = 0) {
        BigBytes body;
        body.put(interface, 4, m_big).put(0, 8, m_big).put(frame.size(), 4, m_big).put(frame.size(), 4, m_big);
        return block(6, body.put(frame).m_bytes);
    }

    Pcapng& simple(const Bytes& frame) { return block(3, BigBytes().put(frame.size(), 4, m_big).put(frame).m_bytes); }

    Pcapng& block(std::uint32_t type, Bytes body) {
        body.resize((body.size() + 3) / 4 * 4);
        const std::uint64_t length = body.size() + 12;
        m_out.put(type, 4, m_big).put(length, 4, m_big).put(body).put(length, 4, m_big);
        return *this;
    }

    Pcapng& raw(std::uint64_t value, unsigned size) {
        m_out.put(value, size, m_big);
        return *this;
    }

    [[nodiscard]] const Bytes& bytes() const { return m_out.m_bytes; }

  private:
    bool m_big;
    BigBytes m_out;
};

} // namespace support
