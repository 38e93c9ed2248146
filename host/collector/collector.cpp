// SPDX-License-Identifier: MIT
// The receive loop. It waits in poll() and never spins; after a short silence it stops waiting for stragglers.
#include "host/collector/collector.hpp"

#include "tracer/wire.hpp"

#include <algorithm>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <utility>

namespace host::collector {

namespace {

constexpr std::chrono::milliseconds kPoll{100};
// A packet that is overtaken by a quarter of a second will not come any more.
constexpr std::chrono::milliseconds kStraggler{250};
constexpr std::chrono::milliseconds kReport{1000};
// Any datagram of the protocol fits; a longer one is malformed by its size alone.
constexpr std::size_t kDatagramBytesMax = 65536;

} // namespace

Collector::Collector(UdpSocket& socket, CollectOptions options, Report report)
    : m_socket(socket)
    , m_options(std::move(options))
    , m_report(std::move(report))
    , m_buffer(kDatagramBytesMax)
    , m_writer(m_options.directory)
    , m_order([this](std::span<const std::byte> records, std::uint64_t lost) { m_writer.add(records, lost); }) {}

lib::Result<formats::dat::Manifest> Collector::run() {
    m_started = Clock::now();
    m_last_packet = m_started;
    Clock::time_point reported = m_started;
    if (const auto saved = save_manifest(manifest("the collector was still receiving"), m_options.directory); !saved) {
        return saved.error();
    }
    std::string stopped;
    while (!m_writer.failed() && !m_writer.export_end() && stopped.empty()) {
        if (m_socket.wait(static_cast<int>(kPoll.count())) && !drain()) {
            stopped = "the socket failed";
        }
        const Clock::time_point now = Clock::now();
        if (m_order.waiting() && now - m_last_packet >= kStraggler) {
            m_order.flush();
        }
        if (now - reported >= kReport) {
            reported = now;
            m_report({m_order.counts().delivered, m_writer.records(), m_order.counts().lost, m_writer.chunks().size()});
        }
        if (stopped.empty()) {
            stopped = reason_to_stop(now);
        }
    }
    m_order.flush();
    const auto finished = m_writer.finish();
    formats::dat::Manifest result = manifest(stopped);
    if (!finished) {
        result.complete = false;
        result.reason = fmt::format("writing failed: {}", error_name(finished.error()));
    }
    const auto saved = save_manifest(result, m_options.directory);
    if (!finished) {
        return finished.error();
    }
    if (!saved) {
        return saved.error();
    }
    return result;
}

// Takes a bounded number of waiting datagrams, so that timeouts and signals are seen in a flood.
bool Collector::drain() {
    constexpr int kDatagramsAtOnce = 4096;
    for (int i = 0; i < kDatagramsAtOnce && !m_writer.export_end(); ++i) {
        const auto datagram = m_socket.receive(m_buffer);
        if (!datagram) {
            return datagram.error() == lib::Error::busy || datagram.error() == lib::Error::unreachable;
        }
        take(std::span(m_buffer).first(std::min(datagram.value().size_bytes, m_buffer.size())),
             datagram.value().sender);
    }
    return true;
}

void Collector::take(std::span<const std::byte> datagram, const Address& sender) {
    if (m_sender && *m_sender != sender) {
        ++m_other_senders;
        return;
    }
    const auto header = tracer::decode_packet_header(datagram);
    if (!header) {
        ++m_malformed;
        return;
    }
    m_sender = sender;
    m_last_packet = Clock::now();
    m_order.accept(header.value().number, datagram.subspan(tracer::kPacketHeaderBytes));
}

std::string Collector::reason_to_stop(Clock::time_point now) const {
    if (m_options.stop != nullptr && *m_options.stop != 0) {
        return "asked to stop";
    }
    if (m_options.timeout && now - m_started >= *m_options.timeout) {
        return fmt::format("no end within {}", *m_options.timeout);
    }
    if (m_sender && m_options.idle_timeout && now - m_last_packet >= *m_options.idle_timeout) {
        return fmt::format("nothing came for {}", *m_options.idle_timeout);
    }
    return {};
}

formats::dat::Manifest Collector::manifest(const std::string& stopped) const {
    formats::dat::Manifest manifest;
    manifest.origin = "udp";
    manifest.chunks = m_writer.chunks();
    manifest.build = m_writer.build();
    manifest.announced = m_writer.export_end();
    for (const formats::dat::ManifestChunk& chunk : manifest.chunks) {
        if (chunk.described) {
            manifest.clock_mode = chunk.description.clock_mode;
            manifest.tsc_source = chunk.description.tsc_source;
            manifest.tsc_khz = chunk.description.tsc_khz;
            manifest.tsc_error_ppm = chunk.description.tsc_error_ppm;
            manifest.boot_id = chunk.description.boot_id;
            break;
        }
    }
    const formats::dat::PacketOrder::Counts& counts = m_order.counts();
    manifest.transfer = formats::dat::ManifestTransfer{.packets = counts.delivered,
                                                       .lost = counts.lost,
                                                       .late = counts.late,
                                                       .duplicate = counts.duplicate,
                                                       .conflicts = counts.conflict,
                                                       .reordered = counts.reordered,
                                                       .malformed = m_malformed + counts.implausible,
                                                       .other_senders = m_other_senders,
                                                       .socket_overflow = m_socket.overflows(),
                                                       .stray_records = m_writer.stray_records(),
                                                       .records = m_writer.records()};
    manifest.reason = missing(stopped);
    manifest.complete = manifest.reason.empty();
    return manifest;
}

// Why the session is not complete; empty if it is.
std::string Collector::missing(const std::string& stopped) const {
    const auto& end = m_writer.export_end();
    const std::uint64_t lost = m_order.counts().lost;
    if (lost != 0) {
        return fmt::format("{} packet{} lost", lost, lost == 1 ? " was" : "s were");
    }
    if (const std::uint64_t conflicts = m_order.counts().conflict; conflicts != 0) {
        return fmt::format("{} packet{} came again with other contents", conflicts, conflicts == 1 ? "" : "s");
    }
    if (!m_sender) {
        return stopped.empty() ? "no packet came" : fmt::format("no packet came: {}", stopped);
    }
    if (!end) {
        const bool plain = std::ranges::none_of(m_writer.chunks(), &formats::dat::ManifestChunk::described);
        return plain && !m_writer.chunks().empty()
                   ? fmt::format("a stream without metadata has no end mark: {}", stopped)
                   : fmt::format("the end of the export never came: {}", stopped);
    }
    std::uint64_t missing_records = 0;
    for (const formats::dat::ManifestChunk& chunk : m_writer.chunks()) {
        missing_records += chunk.missing;
    }
    if (missing_records != 0) {
        return fmt::format("{} records are missing", missing_records);
    }
    if (const std::uint64_t wrong = m_writer.wrong_checksums(); wrong != 0) {
        return fmt::format("the checksum of {} chunk{} is wrong: bytes changed on their way", wrong,
                           wrong == 1 ? "" : "s");
    }
    if (m_writer.stray_records() != 0) {
        return fmt::format("{} records belong to no chunk", m_writer.stray_records());
    }
    if (end->chunks != m_writer.chunks().size() || end->records != m_writer.records()) {
        return fmt::format("the sender announces {} chunks with {} records; {} with {} came", end->chunks, end->records,
                           m_writer.chunks().size(), m_writer.records());
    }
    return {};
}

} // namespace host::collector
