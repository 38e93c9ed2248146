// SPDX-License-Identifier: MIT
// This 16550 serial port is polled and only for output: the console of last resort, usable with interrupts off and
// after a panic. Every wait is bounded: if the port does not become ready, the character is lost and counted.
// Source: National Semiconductor PC16550D data sheet, section 8 (register descriptions). Context: any.
#pragma once

#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace drivers {

inline constexpr std::uint16_t kSerialCom1 = 0x3F8;

template <typename Port>
class Serial {
  public:
    constexpr explicit Serial(std::uint16_t base)
        : m_base(base) {}

    // Starts the port with 115200 baud, 8N1, FIFOs on and without interrupts. not_found: the scratch register does not
    // keep a value.
    [[nodiscard]] lib::Result<void> start() {
        Port::out8(reg(kRegScratch), kScratchPattern);
        if (Port::in8(reg(kRegScratch)) != kScratchPattern) {
            return lib::Error::not_found;
        }
        Port::out8(reg(kRegInterruptEnable), 0);
        Port::out8(reg(kRegLineControl), kDivisorLatch | kEightBits);
        Port::out8(reg(kRegDivisorLow), 1);
        Port::out8(reg(kRegDivisorHigh), 0);
        Port::out8(reg(kRegLineControl), kEightBits);
        Port::out8(reg(kRegFifoControl), kFifoEnableAndClear);
        m_present = true;
        return {};
    }

    // Writes a text; a newline is sent as carriage return and line feed.
    void write(std::string_view text) {
        for (const char character : text) {
            if (character == '\n') {
                put('\r');
            }
            put(character);
        }
    }

    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

  private:
    static constexpr std::uint16_t kRegTransmit = 0;
    static constexpr std::uint16_t kRegDivisorLow = 0; // with the divisor latch open
    static constexpr std::uint16_t kRegDivisorHigh = 1;
    static constexpr std::uint16_t kRegInterruptEnable = 1;
    static constexpr std::uint16_t kRegFifoControl = 2;
    static constexpr std::uint8_t kFifoEnableAndClear = 0x07;
    static constexpr std::uint16_t kRegLineControl = 3;
    static constexpr std::uint8_t kEightBits = 0x03;
    static constexpr std::uint8_t kDivisorLatch = 0x80;
    static constexpr std::uint16_t kRegLineStatus = 5;
    static constexpr std::uint8_t kTransmitterEmpty = 0x20;
    static constexpr std::uint16_t kRegScratch = 7;
    static constexpr std::uint8_t kScratchPattern = 0xA5;
    static constexpr int kPollsMax = 100'000; // far above the 87 us of one character at 115200 baud

    [[nodiscard]] constexpr std::uint16_t reg(std::uint16_t offset) const {
        return static_cast<std::uint16_t>(m_base + offset);
    }

    void put(char character) {
        for (int poll = 0; m_present && poll < kPollsMax; ++poll) {
            if ((Port::in8(reg(kRegLineStatus)) & kTransmitterEmpty) != 0) {
                Port::out8(reg(kRegTransmit), static_cast<std::uint8_t>(character));
                return;
            }
        }
        ++m_lost;
    }

    std::uint16_t m_base;
    bool m_present = false;
    std::uint64_t m_lost = 0;
};

} // namespace drivers
