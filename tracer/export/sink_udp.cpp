// SPDX-License-Identifier: MIT
#include "tracer/export/sink_udp.hpp"

#include "tracer/names/metadata_writer.hpp"

#include "tracer/record/cpu_trace.hpp"

#include <algorithm>

namespace tracer {

lib::Result<void> UdpSink::submit(const ChunkImage& image) {
    if (m_state == SinkState::failed) {
        return m_error;
    }
    ASSERT(m_state == SinkState::idle);
    m_image = image;
    set_progress(packets(), 0);
    m_state = SinkState::busy;
    return {};
}

lib::Result<void> UdpSink::finish(const ExportEnd& totals) {
    MetadataWriter writer(m_end, m_last_stamp);
    writer.combined(event_code(ExportEnd::kEvent), totals);
    ChunkImage end;
    end.parts[0] = writer.written();
    m_ending = true;
    return submit(end);
}

SinkState UdpSink::step() {
    if (m_state != SinkState::busy) {
        return m_state;
    }
    if (const auto polled = m_sender.poll(); !polled && polled.error() != lib::Error::busy) {
        return fail(polled.error());
    }
    if (m_sender.now() < m_probe_end) {
        return m_state;
    }
    for (std::uint32_t sent = 0; sent < m_burst; ++sent) {
        if (m_packet_number != packets() + 1 && !fill_packet()) {
            return m_ending && m_sender.sending() ? wait() : (m_state = SinkState::idle);
        }
        const auto taken = m_sender.send(std::span(m_packet).first(m_packet_bytes));
        if (!taken && taken.error() == lib::Error::busy) {
            m_burst = std::max(m_burst / 2, 1U);
            return wait();
        }
        if (!taken) {
            return fail(taken.error());
        }
        m_busy_end = {};
        const std::size_t records = m_packet_bytes - kPacketHeaderBytes;
        set_progress(packets() + 1, offset() + records);
        if (packets() == 1) {
            m_probe_end = m_sender.now() + m_limits.probe_time;
            return m_state;
        }
    }
    m_burst = std::min(m_burst + 1, m_limits.burst_packets_max);
    return m_state;
}

// Fills the next packet of the image; returns false at its end.
bool UdpSink::fill_packet() {
    const std::span<std::byte> body = std::span(m_packet).subspan(kPacketHeaderBytes);
    const std::size_t bytes = m_image.read(offset(), body);
    if (bytes == 0) {
        return false;
    }
    ASSERT(bytes % kRecordBytes == 0 && bytes <= body.size());
    m_packet_bytes = kPacketHeaderBytes + bytes;
    encode_packet_header({.number = packets() + 1,
                          .records = static_cast<std::uint32_t>(bytes / kRecordBytes),
                          .size_bytes = static_cast<std::uint32_t>(m_packet_bytes)},
                         m_packet);
    m_last_stamp = std::max(m_last_stamp, decode_record(body.subspan(bytes - kRecordBytes)).stamp());
    m_packet_number = packets() + 1; // last: now it is whole
    return true;
}

void UdpSink::set_progress(std::uint32_t packets_sent, std::size_t offset) {
    ASSERT(offset <= m_image.size_bytes());
    write_shared(m_progress, (std::uint64_t{packets_sent} << 32) | offset);
}

// Waits for a busy sender. The first attempt that found it busy decides until when.
SinkState UdpSink::wait() {
    const lib::Nanoseconds now = m_sender.now();
    if (m_busy_end == lib::Nanoseconds{}) {
        m_busy_end = now + m_limits.busy_time_max;
    }
    return now < m_busy_end ? m_state : fail(lib::Error::timeout);
}

SinkState UdpSink::fail(lib::Error error) {
    m_error = error;
    return m_state = SinkState::failed;
}

} // namespace tracer
