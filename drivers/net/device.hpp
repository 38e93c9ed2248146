// SPDX-License-Identifier: MIT
// A Device is a network card as the protocols see it: it passes whole Ethernet frames without CRC, one at a time,
// without waiting. The same protocols run on the NE2000 and on a fake that keeps frames in a list.
#pragma once

#include "drivers/net/address.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <span>

namespace drivers::net {

inline constexpr std::size_t kFrameBytesMax = 1514;        // header and 1500 bytes of payload
inline constexpr std::size_t kReceiveFrameBytesMax = 1518; // the same with a VLAN tag

class Device {
  public:
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    // Returns the card's own address, which is valid once the card has been started.
    [[nodiscard]] virtual MacAddress mac() const = 0;

    // Queues one frame; the card pads it to the minimum length. The span is free again on return. busy: no buffer is
    // free; call poll() and try again. invalid_argument: it is shorter than 14 or longer than kFrameBytesMax bytes.
    // timeout: the card had to be reset and this frame is lost. io: the card does not work.
    [[nodiscard]] virtual lib::Result<void> send_frame(std::span<const std::byte> frame) = 0;

    // Copies the oldest received frame and returns its size. not_found: none is waiting. no_space: it was longer than
    // `out` and was dropped. corrupt, timeout: the card lost frames and has recovered. io: the card does not work.
    [[nodiscard]] virtual lib::Result<std::size_t> receive_frame(std::span<std::byte> out) = 0;

    // Serves completed transmissions, watchdog and error counters, in bounded time. It must be called regularly,
    // whether or not there is traffic.
    virtual void poll() = 0;

    // Returns whether a queued frame has not left the card yet; poll() changes it. It is false for a card that does not
    // work.
    [[nodiscard]] virtual bool sending() const = 0;

  protected:
    constexpr Device() = default;
    ~Device() = default; // never deleted through this interface: cards are static
};

} // namespace drivers::net
