// SPDX-License-Identifier: MIT
// Implements the fake NE2000's behaviour. Every `violation` is a violated rule of the data sheet.
#include "tests/support/fake_ne2000.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace test {

using namespace drivers::ne2000;

namespace {

constexpr std::size_t kPageBytes = 256;
constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kCrcBytes = 4;
constexpr lib::Ticks kStopTime{1'600'000}; // 1.6 ms at the fake clock's rate

} // namespace

FakeNe2000::FakeNe2000(FakeClock& clock, std::size_t memory_bytes)
    : m_clock(clock)
    , m_memory(memory_bytes, 0xEE) {
    constexpr std::array<std::uint8_t, 6> mac{0x52, 0x54, 0x00, 0x12, 0x34, 0x56};
    for (std::size_t i = 0; i < 16; ++i) {
        prom[2 * i] = prom[2 * i + 1] = i < mac.size() ? mac[i] : 0x57;
    }
}

FakeNe2000::~FakeNe2000() {
    if (m_direction != Direction::none && m_dma_left > 0 && !behaviour.dma_never_completes) {
        violation("a remote DMA was left unfinished");
    }
}

void FakeNe2000::violation(const std::string& what) {
    ADD_FAILURE() << "NE2000 rule broken: " << what;
}

bool FakeNe2000::loopback() const {
    return (m_page0[kRegTCR] & kTcrLoopMask) != 0;
}

bool FakeNe2000::receiving() const {
    return !stopped() && !loopback() && (m_page0[kRegRCR] & kRcrMON) == 0 && m_overflow == Overflow::none;
}

void FakeNe2000::set_tally_counters(std::uint8_t alignment, std::uint8_t crc, std::uint8_t missed) {
    m_tally = {alignment, crc, missed};
    m_status |= kIsrCNT;
}

// --- ports ----------------------------------------------------------------------------------------------------------

std::uint8_t FakeNe2000::in8(std::uint16_t port) {
    ++m_accesses;
    const auto reg = static_cast<std::uint8_t>(port - kBase);
    if (behaviour.absent || port < kBase || reg >= kPorts) {
        return 0xFF;
    }
    advance_transmission();
    if (reg == kDataPort) {
        check_data_width(1);
        return dma_byte_in();
    }
    if (reg == kResetPort) {
        return 0;
    }
    if (reg == kRegCR) {
        return static_cast<std::uint8_t>((m_command & ~kCrTXP) | (m_transmitting ? kCrTXP : 0));
    }
    if (reg > 0x0F) {
        violation("read of a port that has no register");
        return 0xFF;
    }
    if (page() == 0) {
        return read_page0(reg);
    }
    if (page() == 1) {
        return reg == kRegCURR ? m_current : m_page1[reg];
    }
    return m_page0[reg]; // page 2 reads back what was written to page 0
}

std::uint8_t FakeNe2000::read_page0(std::uint8_t reg) {
    switch (reg) {
    case kRegBNRY:
        return m_boundary;
    case kRegTSR:
        return m_transmit_status;
    case kRegISR:
        return m_status;
    case kRegCNTR0:
    case kRegCNTR1:
    case kRegCNTR2:
        return std::exchange(m_tally[static_cast<std::size_t>(reg - kRegCNTR0)], std::uint8_t{0});
    default:
        violation("read of page 0 register " + std::to_string(reg) + ", which the driver has no use for");
        return 0;
    }
}

void FakeNe2000::out8(std::uint16_t port, std::uint8_t value) {
    ++m_accesses;
    const auto reg = static_cast<std::uint8_t>(port - kBase);
    if (behaviour.absent || port < kBase || reg >= kPorts) {
        return;
    }
    advance_transmission();
    if (reg == kDataPort) {
        check_data_width(1);
        dma_byte_out(value);
        return;
    }
    if (reg == kResetPort) {
        hard_reset();
        return;
    }
    writes.push_back({m_clock.current(), page(), reg, value});
    if (reg == kRegCR) {
        write_command(value);
    } else if (reg > 0x0F) {
        violation("write to a port that has no register");
    } else if (page() == 0) {
        write_page0(reg, value);
    } else if (page() == 1) {
        write_page1(reg, value);
    } else {
        violation("write to a register of page 2");
    }
}

std::uint16_t FakeNe2000::in16(std::uint16_t port) {
    std::array<std::byte, 2> bytes{};
    in_block16(port, bytes);
    return static_cast<std::uint16_t>(static_cast<unsigned>(bytes[0]) | static_cast<unsigned>(bytes[1]) << 8);
}

std::uint32_t FakeNe2000::in32(std::uint16_t port) {
    std::array<std::byte, 4> bytes{};
    in_block32(port, bytes);
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
    }
    return value;
}

void FakeNe2000::out16(std::uint16_t port, std::uint16_t value) {
    out_block16(port, std::array{static_cast<std::byte>(value), static_cast<std::byte>(value >> 8)});
}

void FakeNe2000::out32(std::uint16_t port, std::uint32_t value) {
    out_block32(port, std::array{static_cast<std::byte>(value), static_cast<std::byte>(value >> 8),
                                 static_cast<std::byte>(value >> 16), static_cast<std::byte>(value >> 24)});
}

void FakeNe2000::in_block8(std::uint16_t port, std::span<std::byte> out) {
    in_units(port, out, 1);
}

void FakeNe2000::in_block16(std::uint16_t port, std::span<std::byte> out) {
    in_units(port, out, 2);
}

void FakeNe2000::in_block32(std::uint16_t port, std::span<std::byte> out) {
    in_units(port, out, 4);
}

void FakeNe2000::out_block8(std::uint16_t port, std::span<const std::byte> data) {
    out_units(port, data, 1);
}

void FakeNe2000::out_block16(std::uint16_t port, std::span<const std::byte> data) {
    out_units(port, data, 2);
}

void FakeNe2000::out_block32(std::uint16_t port, std::span<const std::byte> data) {
    out_units(port, data, 4);
}

void FakeNe2000::in_units(std::uint16_t port, std::span<std::byte> out, std::size_t width) {
    EXPECT_EQ(port, kBase + kDataPort);
    EXPECT_EQ(out.size() % width, 0U);
    check_data_width(width);
    for (; !out.empty(); out = out.subspan(width)) {
        const auto unit = out.first(width);
        const std::size_t transferred = width == 4 && behaviour.dword_port == DwordPort::halved ? 2 : width;
        std::ranges::fill(unit, std::byte{0xFF});
        std::ranges::generate(unit.first(transferred), [this] { return static_cast<std::byte>(dma_byte_in()); });
        if (width == 4 && behaviour.dword_port == DwordPort::swapped) {
            std::swap_ranges(unit.begin(), unit.begin() + 2, unit.begin() + 2);
        } else if (width == 4 && behaviour.dword_port == DwordPort::upper_lost) {
            std::ranges::fill(unit.subspan(2), std::byte{0xFF});
        } else if (width == 4 && behaviour.dword_port == DwordPort::write_only) {
            std::ranges::fill(unit, std::byte{0xFF});
        } else if (width == 2 && !behaviour.word_port) {
            unit[1] = std::byte{0xFF};
        }
    }
}

void FakeNe2000::out_units(std::uint16_t port, std::span<const std::byte> data, std::size_t width) {
    EXPECT_EQ(port, kBase + kDataPort);
    EXPECT_EQ(data.size() % width, 0U);
    check_data_width(width);
    for (; !data.empty(); data = data.subspan(width)) {
        const auto byte = [&](std::size_t place) { return static_cast<std::uint8_t>(data[place]); };
        for (std::size_t i = 0; i < width; ++i) {
            const bool upper = width == 4 && i >= 2;
            if ((width == 4 && behaviour.dword_port == DwordPort::read_only) ||
                (upper && behaviour.dword_port == DwordPort::upper_lost) ||
                (width == 2 && i == 1 && !behaviour.word_port)) {
                dma_step();
            } else if (width == 4 && behaviour.dword_port == DwordPort::swapped) {
                dma_byte_out(byte((i + 2) % 4));
            } else if (!upper || behaviour.dword_port != DwordPort::halved) {
                dma_byte_out(byte(i));
            }
        }
    }
}

void FakeNe2000::check_data_width(std::size_t bytes) {
    const bool words = (m_page0[kRegDCR] & kDcrWTS) != 0;
    if (words != (bytes > 1)) {
        violation("data port access of " + std::to_string(bytes) + " bytes against DCR.WTS");
    }
    if (bytes == 4 && behaviour.dword_port == DwordPort::never_access) {
        violation("32-bit access to a 16-bit data port");
    }
}

// --- registers ------------------------------------------------------------------------------------------------------

void FakeNe2000::write_command(std::uint8_t value) {
    const bool stop = (value & kCrSTP) != 0;
    const bool start = (value & kCrSTA) != 0;
    if (stop == start) {
        violation("CR must say either STOP or START");
    }
    if ((value & (kCrRemoteRead | kCrRemoteWrite | kCrRD2)) == 0) {
        violation("CR with RD2..RD0 = 000, which is not allowed");
    }
    m_command = value;
    if (stop) {
        if (m_transmitting && behaviour.stop_cuts_transmission) {
            m_transmitting = false;
        }
        if (!m_transmitting) {
            m_status |= kIsrRST;
        }
        m_stopped_at = m_clock.current();
        if (m_overflow == Overflow::pending) {
            m_overflow = Overflow::stopped;
        }
    } else {
        m_status = static_cast<std::uint8_t>(m_status & ~kIsrRST);
        if (m_overflow == Overflow::stopped) {
            if (m_clock.current() - m_stopped_at < kStopTime) {
                violation("overflow routine: started less than 1.6 ms after STOP");
            }
            if (m_page0[kRegRBCR0] != 0 || m_page0[kRegRBCR1] != 0) {
                violation("overflow routine: started with RBCR not cleared");
            }
            if (!loopback()) {
                violation("overflow routine: started without loopback");
            }
            m_overflow = Overflow::started;
        }
    }
    if ((value & kCrRD2) != 0) {
        if (m_direction != Direction::none && m_dma_left > 0 && !behaviour.dma_never_completes) {
            violation("remote DMA aborted with " + std::to_string(m_dma_left) + " bytes left");
        }
        m_direction = Direction::none;
    } else {
        begin_dma((value & kCrRemoteRead) != 0 ? Direction::read : Direction::write);
    }
    if ((value & kCrTXP) != 0) {
        begin_transmission();
    }
}

void FakeNe2000::write_page0(std::uint8_t reg, std::uint8_t value) {
    const bool layout = reg == kRegPSTART || reg == kRegPSTOP || reg == kRegDCR;
    if (layout && !stopped()) {
        violation("page 0 register " + std::to_string(reg) + " written while the controller runs");
    }
    const bool transmit = reg == kRegTPSR || reg == kRegTBCR0 || reg == kRegTBCR1;
    if (transmit && m_transmitting) {
        violation("transmit register written during a transmission");
    }
    const bool dma = reg >= kRegRSAR0 && reg <= kRegRBCR1;
    if (dma && m_direction != Direction::none) {
        violation("remote DMA register written during a transfer");
    }
    m_page0[reg] = value;
    if (reg == kRegISR) {
        clear_status(value);
    } else if (reg == kRegBNRY) {
        m_boundary = value;
        if (m_overflow == Overflow::started) {
            m_overflow = Overflow::removed;
        }
    } else if (reg == kRegTCR && value == 0 && m_overflow != Overflow::none && !stopped()) {
        overflow_step(Overflow::cleared, Overflow::none, "left loopback before OVW was cleared");
        ++m_overflow_recoveries;
    }
}

void FakeNe2000::clear_status(std::uint8_t bits) {
    if ((bits & kIsrOVW) != 0 && (m_status & kIsrOVW) != 0) {
        if (stopped()) {
            m_overflow = Overflow::none; // a whole initialisation also recovers
        } else {
            overflow_step(Overflow::removed, Overflow::cleared, "OVW cleared before a frame was removed");
        }
    }
    m_status = static_cast<std::uint8_t>(m_status & ~(bits & ~kIsrRST));
}

void FakeNe2000::overflow_step(Overflow expected, Overflow next, const char* what) {
    if (m_overflow != expected) {
        violation(std::string("overflow routine: ") + what);
    }
    m_overflow = next;
}

void FakeNe2000::write_page1(std::uint8_t reg, std::uint8_t value) {
    if (!stopped()) {
        violation("page 1 register " + std::to_string(reg) + " written while the controller runs");
    }
    m_page1[reg] = value;
    if (reg == kRegCURR) {
        m_current = value;
    }
}

void FakeNe2000::hard_reset() {
    m_command = kCommandStop;
    m_transmitting = false;
    m_direction = Direction::none;
    m_overflow = Overflow::none;
    m_status = behaviour.reset_dead ? std::uint8_t{0} : kIsrRST;
}

// --- remote DMA -----------------------------------------------------------------------------------------------------

void FakeNe2000::begin_dma(Direction direction) {
    if (m_direction != Direction::none) {
        violation("remote DMA begun during another");
    }
    m_dma_left = static_cast<std::uint16_t>(m_page0[kRegRBCR0] | m_page0[kRegRBCR1] << 8);
    m_dma_address = static_cast<std::uint16_t>(m_page0[kRegRSAR0] | m_page0[kRegRSAR1] << 8);
    if (m_dma_left == 0) {
        violation("remote DMA begun with RBCR 0");
    }
    if ((m_status & kIsrRDC) != 0) {
        violation("remote DMA begun with RDC still set from the last one");
    }
    m_direction = direction;
}

void FakeNe2000::dma_step() {
    ++m_dma_address;
    if (--m_dma_left == 0 && !behaviour.dma_never_completes) {
        m_status |= kIsrRDC;
    }
}

std::uint8_t FakeNe2000::dma_byte_in() {
    if (behaviour.absent) {
        return 0xFF;
    }
    if (m_direction != Direction::read || m_dma_left == 0) {
        violation("data port read without a transfer");
        return 0xFF;
    }
    const std::size_t address = m_dma_address;
    const std::size_t ring_end = m_page0[kRegPSTOP] * kPageBytes;
    std::uint8_t value = 0xFF;
    if (address < prom.size()) {
        value = prom[address];
    } else if (address >= kMemoryStart && address < kMemoryStart + m_memory.size()) {
        value = m_memory[address - kMemoryStart];
        if (address >= ring_end) {
            violation("remote read past the ring's end");
        }
    } else {
        violation("remote read outside PROM and buffer memory");
    }
    dma_step();
    return value;
}

void FakeNe2000::dma_byte_out(std::uint8_t value) {
    if (behaviour.absent) {
        return;
    }
    if (m_direction != Direction::write || m_dma_left == 0) {
        violation("data port write without a transfer");
        return;
    }
    const std::size_t address = m_dma_address;
    const std::size_t page_number = address / kPageBytes;
    if (address < kMemoryStart || address >= kMemoryStart + m_memory.size()) {
        violation("remote write outside buffer memory");
    } else if (page_number >= m_page0[kRegPSTART] && page_number < m_page0[kRegPSTOP]) {
        violation("remote write into the receive ring");
    } else {
        const std::size_t sending = m_page0[kRegTPSR] * kPageBytes;
        const auto sending_bytes = static_cast<std::size_t>(m_page0[kRegTBCR0] | m_page0[kRegTBCR1] << 8);
        if (m_transmitting && address >= sending && address < sending + sending_bytes) {
            violation("remote write into the frame that is being sent");
        }
        m_memory[address - kMemoryStart] = behaviour.memory_lost ? std::uint8_t{0xEE} : value;
    }
    dma_step();
}

// --- transmitter ----------------------------------------------------------------------------------------------------

void FakeNe2000::begin_transmission() {
    const std::size_t start = m_page0[kRegTPSR] * kPageBytes;
    const auto size = static_cast<std::size_t>(m_page0[kRegTBCR0] | m_page0[kRegTBCR1] << 8);
    if (m_transmitting) {
        violation("TXP during a transmission");
    }
    if (stopped()) {
        violation("TXP while stopped");
    }
    if (loopback()) {
        violation("TXP in loopback: the frame would not leave");
    }
    if (size < 60 || size > 1514) {
        violation("transmission of " + std::to_string(size) + " bytes");
    }
    if (start < kMemoryStart || start + size > kMemoryStart + m_memory.size()) {
        violation("transmission from outside buffer memory");
        return;
    }
    if (m_overflow != Overflow::none) {
        violation("TXP between overflow and recovery");
    }
    m_transmitting = true;
    m_transmission_end = m_clock.current() + FakeClock::kRate.to_ticks(behaviour.transmit_time);
    advance_transmission();
}

void FakeNe2000::advance_transmission() {
    if (!m_transmitting || behaviour.transmitter_stuck || m_clock.current() < m_transmission_end) {
        return;
    }
    m_transmitting = false;
    m_transmit_status = behaviour.transmit_status;
    if (stopped()) {
        m_status |= kIsrRST;
    }
    if ((m_transmit_status & kTsrPTX) == 0) {
        m_status |= kIsrTXE;
        return;
    }
    m_status |= kIsrPTX;
    const std::size_t start = m_page0[kRegTPSR] * kPageBytes - kMemoryStart;
    const auto size = static_cast<std::size_t>(m_page0[kRegTBCR0] | m_page0[kRegTBCR1] << 8);
    Frame frame;
    for (std::size_t i = 0; i < size; ++i) {
        frame.push_back(static_cast<std::byte>(m_memory[start + i]));
    }
    m_sent.push_back(frame);
}

// --- receiver -------------------------------------------------------------------------------------------------------

bool FakeNe2000::accepts(std::span<const std::byte> frame) const {
    const bool broadcast = std::ranges::all_of(frame.first(6), [](std::byte byte) { return byte == std::byte{0xFF}; });
    if (broadcast) {
        return (m_page0[kRegRCR] & kRcrAB) != 0;
    }
    for (std::size_t i = 0; i < 6; ++i) {
        if (m_page1[kRegPAR0 + i] != static_cast<std::uint8_t>(frame[i])) {
            return false;
        }
    }
    return true;
}

bool FakeNe2000::arrive(std::span<const std::byte> frame) {
    if (behaviour.absent || !receiving() || !accepts(frame)) {
        return false;
    }
    const std::size_t ring_pages = m_page0[kRegPSTOP] - m_page0[kRegPSTART];
    const std::size_t needed = (kHeaderBytes + frame.size() + kCrcBytes + kPageBytes - 1) / kPageBytes;
    const std::size_t free = (m_boundary + ring_pages - m_current) % ring_pages;
    if (needed > free) {
        m_status |= kIsrOVW;
        m_overflow = Overflow::pending;
        ++m_tally[2];
        return false;
    }
    store(frame, static_cast<std::uint8_t>(needed));
    m_status |= kIsrPRX;
    return true;
}

void FakeNe2000::store(std::span<const std::byte> frame, std::uint8_t pages) {
    const std::uint8_t start = m_page0[kRegPSTART];
    const std::uint8_t stop = m_page0[kRegPSTOP];
    const int next = m_current + pages;
    const auto next_page = static_cast<std::uint8_t>(next >= stop ? next - stop + start : next);
    const std::size_t length = frame.size() + kCrcBytes;
    std::array<std::uint8_t, 4> header{kRsrPRX, next_page, static_cast<std::uint8_t>(length),
                                       static_cast<std::uint8_t>(length >> 8)};
    if (behaviour.falsify_header) {
        behaviour.falsify_header(header);
    }
    std::size_t address = m_current * kPageBytes;
    const auto put = [&](std::uint8_t value) {
        m_memory[address - kMemoryStart] = value;
        if (++address == stop * kPageBytes) {
            address = start * kPageBytes;
        }
    };
    std::ranges::for_each(header, put);
    std::ranges::for_each(frame, [&](std::byte byte) { put(static_cast<std::uint8_t>(byte)); });
    m_current = next_page;
}

} // namespace test
