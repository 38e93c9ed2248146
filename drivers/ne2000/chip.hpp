// SPDX-License-Identifier: MIT
// One NE2000 at one I/O base: registers, reset, and remote DMA, the only access to its buffer memory. It only moves
// bytes: frames, ring and recovery are handled by the device. Every wait is bounded. Source: DP8390D data sheet,
// sections 5 (remote DMA) and 10. Context: task, one user at a time. After a timeout the NIC's DMA is in an unknown
// state: reset it.
#pragma once

#include "drivers/clock.hpp"
#include "drivers/ne2000/registers.hpp"
#include "drivers/port_io.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::ne2000 {

// Bytes per access to the data port. An ISA card and a plain RTL8029 support words; QEMU's model (both its cards) also
// double words, which halves the cost of a copy.
enum class DataWidth : std::uint8_t { word16 = 2, dword32 = 4 };

template <PortIo Ports>
class Chip {
  public:
    constexpr Chip(Ports& ports, Clock& clock)
        : m_ports(ports)
        , m_clock(clock) {}

    Chip(const Chip&) = delete;
    Chip& operator=(const Chip&) = delete;

    constexpr void select(std::uint16_t io_base, DataWidth width) {
        m_io_base = io_base;
        m_width = width;
    }

    // Registers are those of the page that the last command() selected.
    [[nodiscard]] std::uint8_t read(std::uint8_t reg) { return m_ports.in8(port(reg)); }

    void write(std::uint8_t reg, std::uint8_t value) { m_ports.out8(port(reg), value); }

    void command(std::uint8_t bits) { write(kRegCR, bits); }

    // Hard reset through the board's reset port; the controller is stopped afterwards. timeout if it does not report
    // it.
    [[nodiscard]] lib::Result<void> reset() {
        write(kResetPort, read(kResetPort));
        if (!wait_until(m_clock, kResetTimeout, [this] { return (read(kRegISR) & kIsrRST) != 0; })) {
            return lib::Error::timeout;
        }
        return {};
    }

    // The page that the receiver writes next, as reported by the NIC. The NIC keeps running; page 0 is selected again.
    [[nodiscard]] std::uint8_t current_page_untrusted() {
        command(kCommandStart | kCrPage1);
        const std::uint8_t page = read(kRegCURR);
        command(kCommandStart);
        return page;
    }

    // Copies the board's address PROM: it appears at address 0, byte by byte whatever the width. DCR must be kDcrBytes.
    // timeout if the DMA does not complete.
    [[nodiscard]] lib::Result<void> read_prom(std::span<std::byte> out) {
        begin_transfer(0, out.size(), kCommandRead);
        for (std::byte& byte : out) {
            byte = static_cast<std::byte>(m_ports.in8(port(kDataPort)));
        }
        return end_transfer();
    }

    // Copies out.size() bytes from buffer memory; the range must not cross the end of the receive ring. DCR must be
    // kDcrWords, address even (and a multiple of 4 for dword32). timeout if the DMA does not complete.
    [[nodiscard]] lib::Result<void> read_memory(std::uint16_t address, std::span<std::byte> out) {
        const std::size_t whole = out.size() - out.size() % unit();
        begin_transfer(address, rounded(out.size()), kCommandRead);
        const auto body = out.first(whole);
        if (m_width == DataWidth::dword32) {
            m_ports.in_block32(port(kDataPort), body);
        } else {
            m_ports.in_block16(port(kDataPort), body);
        }
        if (whole != out.size()) {
            copy_partial(read_unit(), out.subspan(whole));
        }
        return end_transfer();
    }

    // Writes data and then zeros up to size_min bytes (and up to the next whole unit). Other conditions and errors as
    // for read_memory().
    [[nodiscard]] lib::Result<void> write_memory(std::uint16_t address, std::span<const std::byte> data,
                                                 std::size_t size_min) {
        const std::size_t total = rounded(data.size() < size_min ? size_min : data.size());
        const std::size_t whole = data.size() - data.size() % unit();
        begin_transfer(address, total, kCommandWrite);
        const auto body = data.first(whole);
        if (m_width == DataWidth::dword32) {
            m_ports.out_block32(port(kDataPort), body);
        } else {
            m_ports.out_block16(port(kDataPort), body);
        }
        std::size_t written = whole;
        if (whole != data.size()) {
            std::array<std::byte, 4> last{};
            std::size_t count = 0;
            for (const std::byte byte : data.subspan(whole)) {
                last[count++] = byte;
            }
            write_unit(lib::load_le<std::uint32_t>(last));
            written += unit();
        }
        for (; written < total; written += unit()) {
            write_unit(0);
        }
        return end_transfer();
    }

  private:
    static constexpr lib::Nanoseconds kResetTimeout = lib::milliseconds(20);
    // A transfer of a whole frame by ISA words takes about 1 ms on the slowest bus; completion follows at once.
    static constexpr lib::Nanoseconds kTransferTimeout = lib::milliseconds(10);

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

    [[nodiscard]] std::uint32_t read_unit() {
        return m_width == DataWidth::dword32 ? m_ports.in32(port(kDataPort)) : m_ports.in16(port(kDataPort));
    }

    void write_unit(std::uint32_t value) {
        if (m_width == DataWidth::dword32) {
            m_ports.out32(port(kDataPort), value);
        } else {
            m_ports.out16(port(kDataPort), static_cast<std::uint16_t>(value));
        }
    }

    // The first bytes of a little-endian unit.
    static void copy_partial(std::uint32_t value, std::span<std::byte> out) {
        for (std::byte& byte : out) {
            byte = static_cast<std::byte>(value);
            value >>= 8;
        }
    }

    Ports& m_ports;
    Clock& m_clock;
    std::uint16_t m_io_base = 0;
    DataWidth m_width = DataWidth::word16;
};

} // namespace drivers::ne2000
