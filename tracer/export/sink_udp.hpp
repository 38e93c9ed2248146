// SPDX-License-Identifier: MIT
// Sends chunks as TRACER-V1.0 packets (wire.hpp), exactly as published: at most 60 records each, numbered from 1 on
// through all chunks, without acknowledgement. Networks are separate: a DatagramSender takes the packets.
//
// A step sends as many packets as the sender takes, up to a burst that grows by one with each completed step and halves
// when the sender is busy. There is no sleep. After the very first packet the sink polls for a while without sending:
// if no process listens, the answer to that packet (ICMP port unreachable) arrives before the whole trace has been sent
// in vain. Waits are bounded in time, not in polls: one poll takes a microsecond under emulation and milliseconds in a
// nested virtual machine. The export ends with one packet with one combined event, export_end, sent once and numbered
// like any other: a repetition would look like new data to a published receiver, and a receiver that misses it reports
// "incomplete".
#pragma once

#include "tracer/export/sink.hpp"
#include "tracer/export/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

class DatagramSender {
  public:
    DatagramSender(const DatagramSender&) = delete;
    DatagramSender& operator=(const DatagramSender&) = delete;

    // Takes a copy of at most kPacketBytesMax bytes, or nothing, in bounded time. busy: no transmit buffer is free, try
    // again; unreachable: the peer reported a closed port, or does not answer ARP; another error: the device failed.
    [[nodiscard]] virtual lib::Result<void> send(std::span<const std::byte> datagram) = 0;

    // Serves the device (received frames, finished transmissions) in bounded time. The errors are those of send().
    [[nodiscard]] virtual lib::Result<void> poll() = 0;

    // Returns whether a datagram that was taken has not left the device yet; poll() changes it.
    [[nodiscard]] virtual bool sending() const = 0;

    // Returns the time since a moment of the sender's choice, which never decreases.
    [[nodiscard]] virtual lib::Nanoseconds now() = 0;

  protected:
    constexpr DatagramSender() = default;
    ~DatagramSender() = default;
};

class UdpSink final : public ChunkSink {
  public:
    struct Limits {
        std::uint32_t burst_packets_max = 32;                      // per step
        lib::Nanoseconds probe_time = lib::milliseconds(20);       // after the first packet
        lib::Nanoseconds busy_time_max = lib::milliseconds(2'000); // without a pause; then the sink fails with timeout
    };

    constexpr UdpSink(DatagramSender& sender, const Limits& limits)
        : m_sender(sender)
        , m_limits(limits) {}

    [[nodiscard]] std::string_view name() const override { return "udp"; }

    [[nodiscard]] lib::Result<void> submit(const ChunkImage& image) override;
    SinkState step() override;

    // Sends the totals. The sink is idle again when the device has sent everything, so the machine may be switched off.
    [[nodiscard]] lib::Result<void> finish(const ExportEnd& totals) override;

    [[nodiscard]] SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return m_error; }

    [[nodiscard]] std::uint32_t packets() const { return static_cast<std::uint32_t>(m_progress >> 32); }

  private:
    static constexpr std::size_t kEndRecordsMax = 10;

    [[nodiscard]] std::uint32_t offset() const { return static_cast<std::uint32_t>(m_progress); }

    void set_progress(std::uint32_t packets_sent, std::size_t offset);
    SinkState fail(lib::Error error);
    SinkState wait();
    [[nodiscard]] bool fill_packet();

    DatagramSender& m_sender;
    Limits m_limits;
    SinkState m_state = SinkState::idle;
    lib::Error m_error{};
    ChunkImage m_image; // spans only: the bytes are the exporter's
    std::array<std::byte, kEndRecordsMax * kRecordBytes> m_end{};
    lib::Ticks m_last_stamp; // of the records sent so far
    std::array<std::byte, kPacketBytesMax> m_packet{};
    std::size_t m_packet_bytes = 0;
    std::uint32_t m_packet_number = 0; // that m_packet holds; it waits to be sent if it is the next one
    // One word, stored at once, has packets sent (upper half) and offset in the image (lower half). A step that is
    // interrupted has either sent a packet and counted it, or it will send it with the same number again.
    std::uint64_t m_progress = 0;
    std::uint32_t m_burst = 1;
    bool m_ending = false;        // the image is that of finish()
    lib::Nanoseconds m_probe_end; // nothing is sent before
    lib::Nanoseconds m_busy_end;  // 0: the sender is not busy
};

} // namespace tracer
