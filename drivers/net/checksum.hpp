// SPDX-License-Identifier: MIT
// The Internet checksum: the complement of the ones' complement sum of all 16-bit words. The sum does not depend on
// byte order (RFC 1071 section 2B), so words are added in this machine's little-endian order and swapped once at the
// end. It detects an odd number of wrong bits, but not two exchanged words. Context: any.
#pragma once

#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::net {

class InternetChecksum {
  public:
    // Adds bytes. An odd last byte counts as the upper half of a word. Precondition: no earlier span had an odd size.
    constexpr void add(std::span<const std::byte> bytes) {
        ASSERT(!m_odd);
        m_odd = bytes.size() % 2 != 0;
        for (; bytes.size() >= 4 * kWordBytes; bytes = bytes.subspan(4 * kWordBytes)) {
            add_le(lib::load_le<std::uint64_t>(bytes));
            add_le(lib::load_le<std::uint64_t>(bytes.subspan(kWordBytes)));
            add_le(lib::load_le<std::uint64_t>(bytes.subspan(2 * kWordBytes)));
            add_le(lib::load_le<std::uint64_t>(bytes.subspan(3 * kWordBytes)));
        }
        for (; bytes.size() >= 2; bytes = bytes.subspan(2)) {
            add_le(lib::load_le<std::uint16_t>(bytes));
        }
        if (!bytes.empty()) {
            add_le(static_cast<std::uint8_t>(bytes[0]));
        }
    }

    // Adds a word in host order, which is big-endian in the packet.
    constexpr void add(std::uint16_t word) { add_le(swapped(word)); }

    // Returns the value for the checksum field of the packet (as a number, to be stored big-endian). Over a packet with
    // a correct checksum it is 0.
    [[nodiscard]] constexpr std::uint16_t value() const {
        std::uint64_t sum = m_sum_le;
        while (sum > 0xFFFF) { // at most five turns: each adds the carries back
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        return static_cast<std::uint16_t>(~swapped(static_cast<std::uint16_t>(sum)));
    }

  private:
    static constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

    // Adds four 16-bit words at a time and the carry: 2^16 - 1 divides 2^64 - 1, so folding later gives the same sum.
    constexpr void add_le(std::uint64_t words) {
        m_sum_le += words;
        m_sum_le += m_sum_le < words ? 1 : 0;
    }

    static constexpr std::uint16_t swapped(std::uint16_t word) {
        return static_cast<std::uint16_t>(word << 8 | word >> 8);
    }

    std::uint64_t m_sum_le = 0;
    bool m_odd = false;
};

} // namespace drivers::net
