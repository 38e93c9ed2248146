// SPDX-License-Identifier: MIT
// Fakes an NE2000 at register level for the driver's unit tests: three register pages, remote DMA at 8, 16 and 32 bit,
// PROM, buffer memory, transmitter and receive ring. It is stricter than a real card: an access that the data sheet
// forbids fails the test immediately. Interrupts are not modelled beyond ISR and IMR. Source: DP8390D data sheet,
// sections 5, 7, 8, 10.
#pragma once

#include "drivers/ne2000/registers.hpp"
#include "tests/support/fake_clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace test {

using Frame = std::vector<std::byte>;

class FakeNe2000 {
  public:
    static constexpr std::uint16_t kBase = 0x300;
    static constexpr std::size_t kMemoryStart = 0x4000;

    // States what becomes of a 32-bit access to the data port.
    enum class DwordPort : std::uint8_t {
        whole,
        halved,       // a word is transferred, and the next one expected
        upper_lost,   // the transfer continues after a double word, whose upper half is neither stored nor read
        swapped,      // the halves are exchanged in both directions
        read_only,    // writes change nothing, and complete
        write_only,   // reads are ones, and complete
        never_access, // fails the test
    };

    // Has the faults of the card, and differences from an idle and correct card.
    struct Behaviour {
        bool absent = false;     // every port reads as ones
        bool reset_dead = false; // RST never appears
        bool dma_never_completes = false;
        bool transmitter_stuck = false; // TXP stays set forever
        DwordPort dword_port = DwordPort::whole;
        bool word_port = true;    // otherwise the upper byte of a word is lost
        bool memory_lost = false; // nothing that is written is kept
        bool stop_cuts_transmission = false;
        lib::Nanoseconds transmit_time{}; // 0: inside the command, as in QEMU
        std::uint8_t transmit_status = drivers::ne2000::kTsrPTX;
        // Changes a stored frame's header: status, next page, length low, length high.
        std::function<void(std::array<std::uint8_t, 4>&)> falsify_header;
    };

    struct Write {
        lib::Ticks at;
        std::uint8_t page;
        std::uint8_t reg;
        std::uint8_t value;
    };

    FakeNe2000(FakeClock& clock, std::size_t memory_bytes);
    ~FakeNe2000();
    FakeNe2000(const FakeNe2000&) = delete;
    FakeNe2000& operator=(const FakeNe2000&) = delete;

    // --- drivers::PortIo ------------------------------------------------------------------------------------------
    std::uint8_t in8(std::uint16_t port);
    std::uint16_t in16(std::uint16_t port);
    std::uint32_t in32(std::uint16_t port);
    void out8(std::uint16_t port, std::uint8_t value);
    void out16(std::uint16_t port, std::uint16_t value);
    void out32(std::uint16_t port, std::uint32_t value);
    void in_block8(std::uint16_t port, std::span<std::byte> out);
    void in_block16(std::uint16_t port, std::span<std::byte> out);
    void in_block32(std::uint16_t port, std::span<std::byte> out);
    void out_block8(std::uint16_t port, std::span<const std::byte> data);
    void out_block16(std::uint16_t port, std::span<const std::byte> data);
    void out_block32(std::uint16_t port, std::span<const std::byte> data);

    // --- the cable ------------------------------------------------------------------------------------------------

    // Lets a frame without CRC arrive. Returns false if the card did not store it (stopped, filtered, ring full).
    bool arrive(std::span<const std::byte> frame);

    // Returns the transmitted frames, in order.
    [[nodiscard]] const std::vector<Frame>& sent() const { return m_sent; }

    // --- for the test ---------------------------------------------------------------------------------------------
    Behaviour behaviour;
    std::array<std::uint8_t, 32> prom{}; // as read by DMA: every byte twice
    std::vector<Write> writes;           // every register write, in order

    void set_current_page(std::uint8_t page) { m_current = page; } // simulates a defective controller

    void set_tally_counters(std::uint8_t alignment, std::uint8_t crc, std::uint8_t missed);

    // Lets a frame arrive that the card does not store, because it is damaged.
    void raise_receive_error() { m_status |= drivers::ne2000::kIsrRXE; }

    // Returns how often the driver completed the overflow routine.
    [[nodiscard]] int overflow_recoveries() const { return m_overflow_recoveries; }

    [[nodiscard]] int accesses() const { return m_accesses; }

    [[nodiscard]] std::uint8_t boundary_page() const { return m_boundary; }

    [[nodiscard]] std::uint8_t interrupt_mask() const { return m_page0[drivers::ne2000::kRegIMR]; }

    [[nodiscard]] bool receiving() const;

  private:
    enum class Direction : std::uint8_t { none, read, write };
    // Names the driver's position in the overflow routine.
    enum class Overflow : std::uint8_t { none, pending, stopped, started, removed, cleared };

    [[nodiscard]] std::uint8_t page() const { return static_cast<std::uint8_t>(m_command >> 6); }

    [[nodiscard]] bool stopped() const { return (m_command & drivers::ne2000::kCrSTP) != 0; }

    [[nodiscard]] bool loopback() const;
    [[nodiscard]] std::uint8_t read_page0(std::uint8_t reg);
    void write_command(std::uint8_t value);
    void write_page0(std::uint8_t reg, std::uint8_t value);
    void write_page1(std::uint8_t reg, std::uint8_t value);
    void clear_status(std::uint8_t bits);
    void hard_reset();
    void begin_dma(Direction direction);
    [[nodiscard]] std::uint8_t dma_byte_in();
    void dma_byte_out(std::uint8_t value);
    void dma_step();
    void check_data_width(std::size_t bytes);
    void in_units(std::uint16_t port, std::span<std::byte> out, std::size_t width);
    void out_units(std::uint16_t port, std::span<const std::byte> data, std::size_t width);
    void begin_transmission();
    void advance_transmission();
    void store(std::span<const std::byte> frame, std::uint8_t pages);
    [[nodiscard]] bool accepts(std::span<const std::byte> frame) const;
    void overflow_step(Overflow expected, Overflow next, const char* what);

    static void violation(const std::string& what);

    FakeClock& m_clock;
    std::vector<std::uint8_t> m_memory; // from kMemoryStart
    std::vector<Frame> m_sent;
    std::array<std::uint8_t, 16> m_page0{}; // as written
    std::array<std::uint8_t, 16> m_page1{};
    std::uint8_t m_command = drivers::ne2000::kCommandStop;
    std::uint8_t m_status = drivers::ne2000::kIsrRST;
    std::uint8_t m_transmit_status = 0;
    std::array<std::uint8_t, 3> m_tally{};
    std::uint8_t m_boundary = 0;
    std::uint8_t m_current = 0;
    Direction m_direction = Direction::none;
    std::uint16_t m_dma_address = 0;
    std::uint16_t m_dma_left = 0;
    bool m_transmitting = false;
    lib::Ticks m_transmission_end{};
    Overflow m_overflow = Overflow::none;
    lib::Ticks m_stopped_at{};
    int m_overflow_recoveries = 0;
    int m_accesses = 0;
};

} // namespace test
