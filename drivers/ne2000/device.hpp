// SPDX-License-Identifier: MIT
// A Device is an NE2000 as a network device: it starts up, transmits through two buffers, receives from the ring, and
// recovers from every known error state of the controller. It is polled: interrupts remain masked unless the options
// enable them, and poll() serves the status bits; an interrupt handler would call the same function. Source: DP8390D
// data sheet, sections 7 (reception, with the overflow routine), 8 (transmission), 11 (initialisation).
//
//   page  40h        46h        4Ch                                        stop_page
//         +----------+----------+---------------------------------------------+
//         | send 0   | send 1   | receive ring                                |
//         +----------+----------+---------------------------------------------+
//
// Usage:  Device nic(ports, clock);  if (auto started = nic.start({.io_base = kIsaBase}); !started) { no card }
// Context: task, one user at a time, or with interrupts off. No call takes longer than a few milliseconds, except the
// recovery from a dead card, which is bounded by 40 ms.
#pragma once

#include "drivers/clock.hpp"
#include "drivers/ne2000/buffers.hpp"
#include "drivers/ne2000/chip.hpp"
#include "drivers/ne2000/probe.hpp"
#include "drivers/net/device.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::ne2000 {

// These are all counters of the NE2000 driver, so that no loss is silent. They only grow, survive each recovery, and
// start at zero only with the object. Any context may read them; only the driver's user writes them.
struct Counters {
    std::uint64_t tx_frames = 0;          // transmitted, as the NIC reports it
    std::uint64_t tx_bytes = 0;           // with padding, without CRC
    std::uint64_t tx_busy = 0;            // refused for lack of a buffer
    std::uint64_t tx_errors = 0;          // given up by the NIC: collisions, underrun
    std::uint64_t tx_resends = 0;         // repeated because a recovery had interrupted them
    std::uint64_t tx_abandoned = 0;       // in the NIC when it had to be reset
    std::uint64_t tx_watchdog_resets = 0; // a transmission did not end

    std::uint64_t rx_frames = 0;
    std::uint64_t rx_bytes = 0;            // without CRC
    std::uint64_t rx_runts = 0;            // accepted although shorter than Ethernet allows: emulated links do not pad
    std::uint64_t rx_oversized = 0;        // longer than the caller's buffer, dropped
    std::uint64_t rx_errors = 0;           // reported by the NIC for frames it did not store
    std::uint64_t rx_overflows = 0;        // the ring was full: recovery ran
    std::uint64_t rx_ring_resets = 0;      // a header was inconsistent: all frames in the ring dropped
    std::uint64_t rx_alignment_errors = 0; // the NIC's tally counters
    std::uint64_t rx_crc_errors = 0;
    std::uint64_t rx_missed = 0;

    std::uint64_t dma_timeouts = 0; // remote DMA never completed: NIC reset
    std::uint64_t resets = 0;       // of the whole NIC, for any reason
    std::uint64_t failures = 0;     // the NIC did not recover: absent from then on
};

struct Options {
    std::uint16_t io_base = kIsaBase;
    DataWidth width_max = DataWidth::dword32; // of the data port; narrower if the card does not take it
    std::uint8_t stop_page = 0x80;      // the end of the buffer memory: 80h for 16 KiB, C0h for 32 KiB (RTL8029, QEMU)
    std::uint8_t interrupt_mask = 0x00; // ISR bits that raise the interrupt line; none: polled
};

template <PortIo Ports>
class Device final : public net::Device {
  public:
    constexpr Device(Ports& ports, Clock& clock)
        : m_chip(ports, clock)
        , m_clock(clock) {}

    // Probes and starts the card; may be called again after a failure. invalid_argument: an option is out of range, and
    // the card is unchanged; io: its buffer memory does not keep what is written; otherwise the errors are those of
    // probe(). The call takes at most 200 ms.
    [[nodiscard]] lib::Result<void> start(const Options& options) {
        if (options.io_base > 0x1'0000 - kPorts || options.stop_page < kStopPageMin ||
            options.stop_page > kStopPageMax) {
            return lib::Error::invalid_argument;
        }
        m_running = false;
        m_options = options;
        m_ring = {kRingStartPage, options.stop_page};
        m_chip.select(options.io_base);
        const auto mac = probe(m_chip);
        if (!mac) {
            return mac.error();
        }
        m_mac = mac.value();
        m_buffers.clear();
        const auto started = start_with_widest_access();
        m_running = started.ok();
        if (!m_running) { // nothing would serve its interrupts and read what it receives
            m_chip.command(kCommandStop);
            m_chip.write(kRegIMR, 0);
        }
        return started;
    }

    // Returns false before start() and after the card has failed permanently.
    [[nodiscard]] bool running() const { return m_running; }

    // Returns the width of the accesses to the data port. Precondition: the card has been started.
    [[nodiscard]] DataWidth width() const { return m_chip.width(); }

    [[nodiscard]] const Counters& counters() const { return m_counters; }

    [[nodiscard]] net::MacAddress mac() const override { return m_mac; }

    [[nodiscard]] lib::Result<void> send_frame(std::span<const std::byte> frame) override {
        if (!m_running) {
            return lib::Error::io;
        }
        if (frame.size() < kFrameHeaderBytes || frame.size() > net::kFrameBytesMax) {
            return lib::Error::invalid_argument;
        }
        poll();
        if (!m_running) {
            return lib::Error::io;
        }
        // Between an overflow and its recovery, which needs the reader's buffer, the controller must not be accessed.
        if (m_buffers.has_filled() || m_overflowed) {
            ++m_counters.tx_busy;
            return lib::Error::busy;
        }
        const auto buffer = m_buffers.free_buffer();
        if (!m_chip.write_memory(page_address(buffer_page(buffer)), frame, kFrameBytesMin)) {
            ++m_counters.dma_timeouts;
            restart();
            return lib::Error::timeout;
        }
        m_buffers.load(buffer, frame.size() < kFrameBytesMin ? kFrameBytesMin : frame.size());
        send_next();
        return {};
    }

    [[nodiscard]] lib::Result<std::size_t> receive_frame(std::span<std::byte> out) override {
        if (!m_running) {
            return lib::Error::io;
        }
        const bool overflowed = m_overflowed;
        const Resend resend = overflowed ? enter_overflow_recovery() : Resend::no;
        const auto size = take_frame(out);
        if (!size && size.error() == lib::Error::timeout) {
            ++m_counters.dma_timeouts;
            restart();
        } else if (!size && size.error() == lib::Error::corrupt) {
            reset_ring(resend);
        } else if (overflowed) {
            leave_overflow_recovery(resend);
        }
        return size;
    }

    void poll() override {
        if (m_running) {
            serve_status(m_chip.read(kRegISR));
        }
    }

    [[nodiscard]] bool sending() const override { return m_running && (m_buffers.sending() || m_buffers.has_filled()); }

  private:
    enum class Resend : std::uint8_t { no, yes };

    static constexpr std::uint8_t kTransmitStartPage = 0x40;
    static constexpr std::uint8_t kRingStartPage = kTransmitStartPage + kTransmitBufferPages * kTransmitBufferCount;
    // The ring has space for two whole frames at least.
    static constexpr std::uint8_t kStopPageMin = kRingStartPage + 2 * kTransmitBufferPages;
    static constexpr std::uint8_t kStopPageMax = 0xC0;

    static constexpr std::size_t kFrameHeaderBytes = 14;
    static constexpr std::size_t kFrameBytesMin = 60; // the controller does not pad

    // A frame takes 1.2 ms, and 26 ms more if it collides eight times with the longest back-offs. One that takes longer
    // has failed, although the controller itself would give up only after sixteen collisions: 0.4 s.
    static constexpr lib::Nanoseconds kTransmitTimeout = lib::milliseconds(50);
    // After STOP the controller completes the current frame: at most 1.2 ms; the data sheet requires 1.6.
    static constexpr lib::Nanoseconds kStopTime = lib::microseconds(1600);

    // Without a card all ports read as ones. A running controller never shows RST together with all the rest.
    static constexpr std::uint8_t kStatusOfNothing = 0xFF;

    static std::uint8_t buffer_page(TransmitBuffers::Index buffer) {
        return static_cast<std::uint8_t>(kTransmitStartPage + buffer * kTransmitBufferPages);
    }

    [[nodiscard]] lib::Result<void> start_with_widest_access() {
        for (const DataWidth width : {DataWidth::dword32, DataWidth::word16, DataWidth::byte8}) {
            if (width > m_options.width_max) {
                continue;
            }
            if (const auto reset = m_chip.reset(); !reset) {
                return reset.error();
            }
            m_chip.set_width(width);
            initialise();
            if (takes_width(m_chip, page_address(kTransmitStartPage), width)) {
                return {};
            }
        }
        return lib::Error::io;
    }

    // Initialises the controller in the order of the data sheet, steps 1 to 11.
    void initialise() {
        m_chip.command(kCommandStop);
        m_chip.write(kRegDCR, m_chip.data_configuration(m_chip.width()));
        m_chip.write(kRegRBCR0, 0);
        m_chip.write(kRegRBCR1, 0);
        m_chip.write(kRegRCR, kRcrAB);
        m_chip.write(kRegTCR, kTcrLoop1);
        m_chip.write(kRegPSTART, m_ring.start_page);
        m_chip.write(kRegPSTOP, m_ring.stop_page);
        m_chip.write(kRegBNRY, m_ring.start_page);
        m_chip.write(kRegISR, 0xFF);
        m_chip.write(kRegIMR, m_options.interrupt_mask);

        m_chip.command(kCommandStop | kCrPage1);
        for (std::size_t i = 0; i < m_mac.bytes.size(); ++i) {
            m_chip.write(static_cast<std::uint8_t>(kRegPAR0 + i), static_cast<std::uint8_t>(m_mac.bytes[i]));
        }
        for (std::uint8_t i = 0; i < 8; ++i) {
            m_chip.write(static_cast<std::uint8_t>(kRegMAR0 + i), 0);
        }
        m_next_page = static_cast<std::uint8_t>(m_ring.start_page + 1);
        m_chip.write(kRegCURR, m_next_page);

        m_chip.command(kCommandStart);
        m_chip.write(kRegTCR, 0);
        m_overflowed = false;
    }

    // --- status ---------------------------------------------------------------------------------------------------

    void serve_status(std::uint8_t status) {
        if (status == kStatusOfNothing) {
            fail();
            return;
        }
        // OVW is cleared only by its recovery, RDC belongs to the transfer, PTX and TXE to the transmission.
        const auto served = static_cast<std::uint8_t>(status & (kIsrPRX | kIsrRXE | kIsrCNT));
        if (served != 0) {
            m_chip.write(kRegISR, served);
        }
        if ((status & kIsrRXE) != 0) {
            ++m_counters.rx_errors;
        }
        if ((status & kIsrCNT) != 0) {
            read_tally_counters();
        }
        m_overflowed = m_overflowed || (status & kIsrOVW) != 0;
        serve_transmission();
    }

    void read_tally_counters() {
        m_counters.rx_alignment_errors += m_chip.read(kRegCNTR0);
        m_counters.rx_crc_errors += m_chip.read(kRegCNTR1);
        m_counters.rx_missed += m_chip.read(kRegCNTR2);
    }

    // --- transmission ---------------------------------------------------------------------------------------------

    void serve_transmission() {
        if (!m_buffers.sending()) {
            return;
        }
        if ((m_chip.read(kRegCR) & kCrTXP) != 0) {
            if (m_transmit_deadline.passed(m_clock)) {
                ++m_counters.tx_watchdog_resets;
                restart();
            }
            return;
        }
        account_transmission();
        // During an overflow nothing new is started: its recovery continues with the waiting frames.
        if (!m_overflowed) {
            send_next();
        }
    }

    // Accounts for a transmission that has ended, with or without an error.
    void account_transmission() {
        if ((m_chip.read(kRegTSR) & (kTsrABT | kTsrFU)) != 0) {
            ++m_counters.tx_errors;
        } else {
            ++m_counters.tx_frames;
            m_counters.tx_bytes += m_buffers.size_bytes(m_buffers.sending_buffer());
        }
        m_chip.write(kRegISR, kIsrPTX | kIsrTXE);
        m_buffers.finish();
    }

    void send_next() {
        if (!m_buffers.sending() && m_buffers.has_filled()) {
            issue(m_buffers.begin());
            m_transmit_deadline = Deadline(m_clock, kTransmitTimeout);
        }
    }

    void issue(TransmitBuffers::Index buffer) {
        const std::uint16_t size_bytes = m_buffers.size_bytes(buffer);
        m_chip.write(kRegISR, kIsrPTX | kIsrTXE); // of an earlier frame: halt() checks how *this* one ended
        m_chip.write(kRegTPSR, buffer_page(buffer));
        m_chip.write(kRegTBCR0, static_cast<std::uint8_t>(size_bytes));
        m_chip.write(kRegTBCR1, static_cast<std::uint8_t>(size_bytes >> 8));
        m_chip.command(kCommandTransmit);
    }

    // Repeats the interrupted frame, though not forever, because the watchdog counts from its first attempt.
    void continue_sending(Resend resend) {
        if (resend == Resend::yes && m_buffers.sending()) {
            ++m_counters.tx_resends;
            issue(m_buffers.sending_buffer());
        } else {
            send_next();
        }
    }

    // --- reception ------------------------------------------------------------------------------------------------

    // Takes a frame out of the ring. not_found and no_space are no errors; after corrupt and timeout the caller
    // recovers.
    [[nodiscard]] lib::Result<std::size_t> take_frame(std::span<std::byte> out) {
        const std::uint8_t current = m_chip.current_page_untrusted();
        if (!m_ring.contains(current)) {
            return lib::Error::corrupt;
        }
        if (current == m_next_page) {
            return lib::Error::not_found;
        }
        const std::uint16_t address = page_address(m_next_page);
        std::array<std::byte, kRingHeaderBytes> header_bytes{};
        if (!m_chip.read_memory(address, header_bytes)) {
            return lib::Error::timeout;
        }
        const RingHeader header = decode_ring_header(header_bytes);
        const auto size = m_ring.validate(header, m_next_page, current);
        if (!size) {
            return size.error();
        }
        const bool fits = size.value() <= out.size();
        if (fits && !read_ring(address + kRingHeaderBytes, out.first(size.value()))) {
            return lib::Error::timeout;
        }
        m_next_page = header.next_page;
        m_chip.write(kRegBNRY, m_ring.page_before(m_next_page));
        if (!fits) {
            ++m_counters.rx_oversized;
            return lib::Error::no_space;
        }
        ++m_counters.rx_frames;
        m_counters.rx_bytes += size.value();
        m_counters.rx_runts += header.length < kRingLengthNoRunt ? 1 : 0;
        return size.value();
    }

    // Reads from the ring, which continues at its start after the last page. Precondition: address in the ring.
    [[nodiscard]] lib::Result<void> read_ring(std::size_t address, std::span<std::byte> out) {
        const std::size_t until_end = m_ring.stop_address() - address;
        const auto head = out.first(out.size() < until_end ? out.size() : until_end);
        const auto tail = out.subspan(head.size());
        if (const auto read = m_chip.read_memory(static_cast<std::uint16_t>(address), head); !read) {
            return read;
        }
        return tail.empty() ? lib::Result<void>{} : m_chip.read_memory(m_ring.start_address(), tail);
    }

    // --- recovery -------------------------------------------------------------------------------------------------

    // Stops the controller in order, steps 1 to 5 of the overflow routine. It returns yes if it was transmitting and
    // the transmission ended neither with success nor with an error: it must then be repeated.
    [[nodiscard]] Resend halt() {
        const bool transmitting = (m_chip.read(kRegCR) & kCrTXP) != 0;
        m_chip.command(kCommandStop);
        wait(m_clock, kStopTime);
        m_chip.write(kRegRBCR0, 0);
        m_chip.write(kRegRBCR1, 0);
        const bool ended = (m_chip.read(kRegISR) & (kIsrPTX | kIsrTXE)) != 0;
        return transmitting && !ended ? Resend::yes : Resend::no;
    }

    // Executes steps 1 to 7; receive_frame() itself executes step 8, to remove a frame from the ring.
    [[nodiscard]] Resend enter_overflow_recovery() {
        ++m_counters.rx_overflows;
        const Resend resend = halt();
        m_chip.write(kRegTCR, kTcrLoop1);
        m_chip.command(kCommandStart);
        return resend;
    }

    // Executes steps 9 to 11.
    void leave_overflow_recovery(Resend resend) {
        m_chip.write(kRegISR, kIsrOVW);
        m_chip.write(kRegTCR, 0);
        m_overflowed = false;
        continue_sending(resend);
    }

    // Resets the ring, because the start of the next frame is unknown after an inconsistent header. Frames being sent
    // are kept; `cut_short` states that an overflow recovery in progress has interrupted one.
    void reset_ring(Resend cut_short) {
        ++m_counters.rx_ring_resets;
        const Resend resend = halt() == Resend::yes ? Resend::yes : cut_short;
        if (resend == Resend::no && m_buffers.sending()) {
            account_transmission(); // here, because initialise() clears its status
        }
        initialise();
        continue_sending(resend);
    }

    // Resets and initialises the whole card, because the controller no longer responds. The frame being sent may or may
    // not have been transmitted, so it is abandoned and counted; the next waiting one is sent.
    void restart() {
        ++m_counters.resets;
        if (!m_chip.reset()) {
            fail();
            return;
        }
        if (m_buffers.sending()) {
            ++m_counters.tx_abandoned;
            m_buffers.finish();
        }
        initialise();
        send_next();
    }

    void fail() {
        ++m_counters.failures;
        m_running = false;
    }

    Chip<Ports> m_chip;
    Clock& m_clock;
    Options m_options;
    ReceiveRing m_ring;
    net::MacAddress m_mac;
    TransmitBuffers m_buffers;
    Deadline m_transmit_deadline;
    Counters m_counters;
    std::uint8_t m_next_page = 0; // the page in the ring of the oldest frame not yet taken
    bool m_overflowed = false;
    bool m_running = false;
};

} // namespace drivers::ne2000
