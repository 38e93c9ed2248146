// SPDX-License-Identifier: MIT
// A Chip is one NE2000 at one I/O base: its registers, its reset, and remote DMA, the only access to its buffer memory.
// It only moves bytes: frames, ring and recovery are handled by the device. Every wait is bounded. Source: DP8390D data
// sheet, sections 5 (remote DMA) and 10. Context: task, one user at a time. After a timeout its DMA is in an unknown
// state: it must be reset.
#pragma once

#include "drivers/clock.hpp"
#include "drivers/ne2000/registers.hpp"
#include "drivers/port_io.hpp"
#include "lib/assert.hpp"
#include "lib/copy_bytes.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::ne2000 {

// States the bytes per access to the data port. Every card for a 16-bit slot supports words; QEMU's cards also support
// double words, which halves the cost of a copy. takes_width() tests what a card supports.
enum class DataWidth : std::uint8_t { byte8 = 1, word16 = 2, dword32 = 4 };

template <PortIo Ports>
class Chip {
  public:
    static constexpr std::size_t kSizeMinMax = 64;

    constexpr Chip(Ports& ports, Clock& clock)
        : m_ports(ports)
        , m_clock(clock) {}

    Chip(const Chip&) = delete;
    Chip& operator=(const Chip&) = delete;

    constexpr void select(std::uint16_t io_base) { m_io_base = io_base; }

    // Sets the width of the accesses to buffer memory from now on; DCR must be that of the width.
    constexpr void set_width(DataWidth width) { m_width = width; }

    [[nodiscard]] constexpr DataWidth width() const { return m_width; }

    [[nodiscard]] static constexpr std::uint8_t data_configuration(DataWidth width) {
        return width == DataWidth::byte8 ? kDcrBytes : kDcrWords;
    }

    // Reads a register of the page that the last command() selected.
    [[nodiscard]] std::uint8_t read(std::uint8_t reg) { return m_ports.in8(port(reg)); }

    void write(std::uint8_t reg, std::uint8_t value) { m_ports.out8(port(reg), value); }

    void command(std::uint8_t bits) { write(kRegCR, bits); }

    // Resets the controller through the board's reset port; it is stopped afterwards. timeout: it does not report the
    // reset.
    [[nodiscard]] lib::Result<void> reset() {
        write(kResetPort, read(kResetPort));
        if (!wait_until(m_clock, kResetTimeout, [this] { return (read(kRegISR) & kIsrRST) != 0; })) {
            return lib::Error::timeout;
        }
        return {};
    }

    // Returns the page that the receiver writes next, as the NIC reports it. The NIC keeps running; page 0 is selected
    // again.
    [[nodiscard]] std::uint8_t current_page_untrusted() {
        command(kCommandStart | kCrPage1);
        const std::uint8_t page = read(kRegCURR);
        command(kCommandStart);
        return page;
    }

    // Copies out.size() bytes from buffer memory, or with bytes from the board's address PROM, which appears at address
    // 0; the range must not cross the end of the receive ring. address must be a multiple of the width. timeout: the
    // DMA does not complete.
    [[nodiscard]] lib::Result<void> read_memory(std::uint16_t address, std::span<std::byte> out) {
        const std::size_t whole = out.size() - out.size() % unit();
        begin_transfer(address, rounded(out.size()), kCommandRead);
        read_block(out.first(whole));
        if (whole != out.size()) {
            Unit last{};
            read_block(std::span(last).first(unit()));
            lib::copy_bytes(std::span(last).first(out.size() - whole), out.subspan(whole));
        }
        return end_transfer();
    }

    // Writes data and then zeros up to size_min bytes, at most kSizeMinMax (and up to the next whole unit). Other
    // conditions and errors are those of read_memory().
    [[nodiscard]] lib::Result<void> write_memory(std::uint16_t address, std::span<const std::byte> data,
                                                 std::size_t size_min) {
        const std::size_t total = rounded(data.size() < size_min ? size_min : data.size());
        const std::size_t whole = data.size() - data.size() % unit();
        ASSERT(size_min <= kSizeMinMax);
        begin_transfer(address, total, kCommandWrite);
        write_block(data.first(whole));
        std::size_t written = whole;
        if (whole != data.size()) {
            Unit last{};
            lib::copy_bytes(data.subspan(whole), last);
            write_block(std::span(last).first(unit()));
            written += unit();
        }
        write_block(std::span(kZeros).first(total - written));
        return end_transfer();
    }

  private:
    static constexpr lib::Nanoseconds kResetTimeout = lib::milliseconds(20);
    // A whole frame takes about 1 ms by ISA words on the slowest bus; the DMA completes immediately afterwards.
    static constexpr lib::Nanoseconds kTransferTimeout = lib::milliseconds(10);

    using Unit = std::array<std::byte, 4>; // of the widest access
    static constexpr std::array<std::byte, kSizeMinMax> kZeros{};

    [[nodiscard]] std::uint16_t port(std::uint8_t offset) const {
        return static_cast<std::uint16_t>(m_io_base + offset);
    }

    [[nodiscard]] std::size_t unit() const { return static_cast<std::size_t>(m_width); }

    [[nodiscard]] std::size_t rounded(std::size_t bytes) const { return (bytes + unit() - 1) / unit() * unit(); }

    void begin_transfer(std::uint16_t address, std::size_t bytes, std::uint8_t direction) {
        ASSERT(bytes > 0 && bytes <= 0xFFFF && address + bytes <= 0x1'0000);
        command(kCommandStart);
        write(kRegISR, kIsrRDC);
        write(kRegRBCR0, static_cast<std::uint8_t>(bytes));
        write(kRegRBCR1, static_cast<std::uint8_t>(bytes >> 8));
        write(kRegRSAR0, static_cast<std::uint8_t>(address));
        write(kRegRSAR1, static_cast<std::uint8_t>(address >> 8));
        command(direction);
    }

    [[nodiscard]] lib::Result<void> end_transfer() {
        if (!wait_until(m_clock, kTransferTimeout, [this] { return (read(kRegISR) & kIsrRDC) != 0; })) {
            return lib::Error::timeout;
        }
        write(kRegISR, kIsrRDC);
        command(kCommandStart);
        return {};
    }

    void read_block(std::span<std::byte> out) {
        if (m_width == DataWidth::dword32) {
            m_ports.in_block32(port(kDataPort), out);
        } else if (m_width == DataWidth::word16) {
            m_ports.in_block16(port(kDataPort), out);
        } else {
            m_ports.in_block8(port(kDataPort), out);
        }
    }

    void write_block(std::span<const std::byte> data) {
        if (m_width == DataWidth::dword32) {
            m_ports.out_block32(port(kDataPort), data);
        } else if (m_width == DataWidth::word16) {
            m_ports.out_block16(port(kDataPort), data);
        } else {
            m_ports.out_block8(port(kDataPort), data);
        }
    }

    Ports& m_ports;
    Clock& m_clock;
    std::uint16_t m_io_base = 0;
    DataWidth m_width = DataWidth::word16;
};

// Tests whether a card's data port takes accesses of a width: data that they write must be read by accesses that are
// known to work, and the reverse. Some cards and bridges ignore half of a double word, or complete no transfer with
// them. A frame would then be damaged without a sign, because the card's CRC covers the data that it got. Context:
// task, one user at a time.

// Returns the width with which `width` is compared. Every card for a 16-bit slot is built for words; where they do not
// work either, only bytes can show whether there is memory at all.
constexpr DataWidth known_width(DataWidth width) {
    return width == DataWidth::dword32 ? DataWidth::word16 : width;
}

// Tries a width. It overwrites kTriedBytes of buffer memory from `address` on; the chip's width is `width` afterwards.
// After a false answer the card must be reset, because a transfer may not have completed. Precondition: DCR is that of
// the width.
inline constexpr std::size_t kTriedBytes = 64;

template <PortIo Ports>
[[nodiscard]] bool takes_width(Chip<Ports>& chip, std::uint16_t address, DataWidth width) {
    using Bytes = std::array<std::byte, kTriedBytes - 1>; // the last unit is not whole
    const auto passes = [&](DataWidth writing, DataWidth reading, std::uint8_t seed) {
        Bytes written{};
        for (std::byte& byte : written) {
            byte = std::byte{seed = static_cast<std::uint8_t>(seed * 5 + 113)}; // bytes of all kinds, in no order
        }
        Bytes read{};
        chip.set_width(writing);
        const bool completed = chip.write_memory(address, written, 0).ok();
        chip.set_width(reading);
        return completed && chip.read_memory(address, read).ok() && read == written;
    };
    const DataWidth known = known_width(width);
    const bool taken = passes(width, known, 1) && passes(known, width, 2);
    chip.set_width(width);
    return taken;
}

} // namespace drivers::ne2000
