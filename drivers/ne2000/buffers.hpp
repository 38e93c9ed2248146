// SPDX-License-Identifier: MIT
// Keeps account of the buffer memory of an NE2000: the receive ring and the two transmit buffers.
#pragma once

#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::ne2000 {

// Computes the geometry of the receive ring and the validity of a stored frame's header. No port is accessed here, so
// every class of corruption has a unit test. Source: DP8390D data sheet, section 7.
//
//   start                          next (ours)          CURR (the NIC's)              stop
//   +------+------+------+------+--+------+------+------+------+------+------+--------+
//   |      |      |      |   BNRY  |####################|                             |   pages of 256 bytes
//   +------+------+------+------+--+------+------+------+------+------+------+--------+
//                                  | frame: 4-byte header, data, CRC; continues at start after the last page
//
//   header: status, page of the next frame, length low, length high      (length counts data and CRC, not the header)

inline constexpr std::size_t kPageBytes = 256;
inline constexpr std::size_t kRingHeaderBytes = 4;
inline constexpr std::size_t kCrcBytes = 4;

// The lengths are those in the header, with CRC. Ethernet's minimum is 64, but an emulated link may deliver a frame
// without padding; the lower bound is an Ethernet header. The maximum is a full frame with a VLAN tag.
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

// Each of the NIC's two transmit buffers is free, filled or being sent. While one is sent the next frame is copied into
// the other, so transmission and copy overlap. No port is accessed here.
//
//   load() -> filled -> begin() -> sending -> finish() -> free        at most one filled, at most one sending

inline constexpr std::uint8_t kTransmitBufferPages = 6; // 1536 bytes: one whole frame
inline constexpr std::size_t kTransmitBufferCount = 2;

class TransmitBuffers {
  public:
    using Index = std::uint8_t;

    [[nodiscard]] constexpr bool sending() const { return m_sending != kNone; }

    [[nodiscard]] constexpr bool has_filled() const { return m_filled != kNone; }

    // Returns the buffer for the next frame. Precondition: not has_filled(), because only one frame waits at a time.
    [[nodiscard]] constexpr Index free_buffer() const {
        ASSERT(!has_filled());
        return m_sending == 0 ? Index{1} : Index{0};
    }

    // Marks a buffer as filled. Precondition: it is the free_buffer().
    constexpr void load(Index buffer, std::size_t size_bytes) {
        ASSERT(buffer == free_buffer());
        ASSERT(size_bytes <= kTransmitBufferPages * std::size_t{256});
        m_filled = buffer;
        m_size_bytes[buffer] = static_cast<std::uint16_t>(size_bytes);
    }

    // Starts the transmission of the filled buffer. Precondition: has_filled() and not sending().
    constexpr Index begin() {
        ASSERT(has_filled() && !sending());
        m_sending = m_filled;
        m_filled = kNone;
        ASSERT(m_size_bytes[m_sending] != 0);
        return m_sending;
    }

    constexpr void finish() {
        ASSERT(sending());
        m_sending = kNone;
    }

    [[nodiscard]] constexpr Index sending_buffer() const {
        ASSERT(sending());
        return m_sending;
    }

    [[nodiscard]] constexpr std::uint16_t size_bytes(Index buffer) const { return m_size_bytes[buffer]; }

    constexpr void clear() {
        m_sending = kNone;
        m_filled = kNone;
    }

  private:
    static constexpr Index kNone = 0xFF;

    std::array<std::uint16_t, kTransmitBufferCount> m_size_bytes{};
    Index m_sending = kNone;
    Index m_filled = kNone;
};

} // namespace drivers::ne2000
