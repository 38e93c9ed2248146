// SPDX-License-Identifier: MIT
// The state of the NIC's two transmit buffers: free, filled or being sent. While one is sent the next frame is copied
// into the other, so transmission and copy overlap. Bookkeeping only: no port is accessed here.
//
//   load() -> filled -> begin() -> sending -> finish() -> free        at most one filled, at most one sending
#pragma once

#include "lib/assert.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace drivers::ne2000 {

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

    // Precondition: sending().
    constexpr void finish() {
        ASSERT(sending());
        m_sending = kNone;
    }

    // Precondition: sending().
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
