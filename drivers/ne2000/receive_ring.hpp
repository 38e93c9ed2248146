// SPDX-License-Identifier: MIT
// The geometry of the receive ring, and the validity of a stored frame's header. Pure computation: no port is accessed
// here, so every class of corruption has a unit test. Source: DP8390D data sheet, section 7.
//
//   start                          next (ours)          CURR (the NIC's)              stop
//   +------+------+------+------+--+------+------+------+------+------+------+--------+
//   |      |      |      |   BNRY  |####################|                             |   pages of 256 bytes
//   +------+------+------+------+--+------+------+------+------+------+------+--------+
//                                  | frame: 4-byte header, data, CRC; continues at start after the last page
//
//   header: status, page of the next frame, length low, length high      (length counts data and CRC, not the header)
#pragma once

#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::ne2000 {

inline constexpr std::size_t kPageBytes = 256;
inline constexpr std::size_t kRingHeaderBytes = 4;
inline constexpr std::size_t kCrcBytes = 4;

// Lengths as in the header, with CRC. Ethernet's minimum is 64, but an emulated link may deliver a frame without
// padding; the lower bound is an Ethernet header. The maximum is a full frame with a VLAN tag.
inline constexpr std::uint16_t kRingLengthMin = 14 + kCrcBytes;
inline constexpr std::uint16_t kRingLengthNoRunt = 64;
inline constexpr std::uint16_t kRingLengthMax = 1522;

[[nodiscard]] constexpr std::uint16_t page_address(std::uint8_t page) {
    return static_cast<std::uint16_t>(page * kPageBytes);
}

struct RingHeader {
    std::uint8_t status = 0;
    std::uint8_t next_page = 0;
    std::uint16_t length = 0;
};

// Decodes a header. Precondition: bytes.size() >= kRingHeaderBytes.
[[nodiscard]] constexpr RingHeader decode_ring_header(std::span<const std::byte> bytes) {
    return {static_cast<std::uint8_t>(bytes[0]), static_cast<std::uint8_t>(bytes[1]),
            lib::load_le<std::uint16_t>(bytes.subspan(2))};
}

struct ReceiveRing {
    std::uint8_t start_page = 0;
    std::uint8_t stop_page = 0; // after the last one; > start_page

    [[nodiscard]] constexpr bool contains(std::uint8_t page) const { return page >= start_page && page < stop_page; }

    [[nodiscard]] constexpr std::uint8_t pages() const { return static_cast<std::uint8_t>(stop_page - start_page); }

    // Returns the number of pages from one to the other in the direction of reception, 0..pages()-1. Precondition: both
    // are in the ring.
    [[nodiscard]] constexpr std::uint8_t distance(std::uint8_t from, std::uint8_t to) const {
        ASSERT(contains(from) && contains(to));
        return static_cast<std::uint8_t>(to >= from ? to - from : pages() - (from - to));
    }

    // Returns the page before this one. Precondition: the page is in the ring.
    [[nodiscard]] constexpr std::uint8_t page_before(std::uint8_t page) const {
        ASSERT(contains(page));
        return static_cast<std::uint8_t>((page == start_page ? stop_page : page) - 1);
    }

    [[nodiscard]] constexpr std::uint16_t start_address() const { return page_address(start_page); }

    [[nodiscard]] constexpr std::size_t stop_address() const { return stop_page * kPageBytes; }

    // Returns the number of data bytes of the frame at `page`, without CRC. corrupt: the header contradicts itself, the
    // ring or the NIC's own CURR. Precondition: page and current are in the ring and not equal.
    [[nodiscard]] lib::Result<std::size_t> validate(const RingHeader& untrusted, std::uint8_t page,
                                                    std::uint8_t current) const;
};

} // namespace drivers::ne2000
