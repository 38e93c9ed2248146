// SPDX-License-Identifier: MIT
#include "host/formats/capture/session.hpp"

#include "host/text/format.hpp"
#include "lib/crc32c.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace host::formats::capture {

namespace {

constexpr std::string_view kAnyVersion = "TRACER-V";

bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
    return bytes.size() >= text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin(),
                      [](char character, std::byte byte) { return static_cast<std::byte>(character) == byte; });
}

struct Packet {
    std::uint32_t number = 0; // 0: it carries no records
    std::span<const std::byte> records{};
};

// corrupt: the header contradicts itself or the datagram.
lib::Result<Packet> packet_of(std::span<const std::byte> payload) {
    if (tracer::reliable::is_version_2(payload)) {
        const auto header = tracer::reliable::decode(payload);
        return header ? lib::Result<Packet>({header.value().number, payload.subspan(tracer::reliable::kHeaderBytes)})
                      : header.error();
    }
    const auto header = tracer::decode_packet_header(payload);
    if (!header || header.value().number == 0) {
        return lib::Error::corrupt;
    }
    return Packet{header.value().number, payload.subspan(tracer::kPacketHeaderBytes)};
}

} // namespace

Session::Session(trace::Spool spool, std::string file, trace::Diagnostics& diagnostics)
    : m_spool(std::move(spool))
    , m_file(std::move(file))
    , m_diagnostics(diagnostics)
    , m_seen(kSeenMax)
    , m_order([this](std::span<const std::byte> records, std::uint64_t lost_before) {
        if (lost_before != 0) {
            report("W-GAP", m_offset_bytes,
                   fmt::format("{} packet{} missing", lost_before, lost_before == 1 ? " is" : "s are"));
        }
        if (m_result) {
            m_result = m_spool.append(records);
        }
    }) {}

void Session::report(trace::Code code, std::uint64_t offset_bytes, std::string_view text) {
    m_diagnostics.report(code, {.file = m_file, .offset_bytes = offset_bytes}, text);
}

void Session::take(const Datagram& datagram, std::uint64_t offset_bytes) {
    if (!starts_with(datagram.payload, kAnyVersion)) {
        return;
    }
    const std::string_view magic(tracer::kPacketMagicV1.data(), tracer::kPacketMagicV1.size());
    if (!starts_with(datagram.payload, magic) && !tracer::reliable::is_version_2(datagram.payload)) {
        ++m_other_versions;
        return;
    }
    const auto packet = packet_of(datagram.payload);
    if (!packet) {
        ++m_malformed;
        return;
    }
    const auto [number, records] = packet.value();
    if (number == 0) {
        return;
    }
    m_offset_bytes = offset_bytes;
    if (!is_ours(datagram, offset_bytes) || contradicts(number, records, offset_bytes)) {
        return;
    }
    m_order.accept(number, records);
}

bool Session::is_ours(const Datagram& datagram, std::uint64_t offset_bytes) {
    if (!m_sender) {
        m_sender = datagram;
        m_sender->payload = {};
    }
    const bool same =
        m_sender->source_address == datagram.source_address && m_sender->source_port == datagram.source_port;
    if (!same && m_foreign_packets == 0) {
        report("E-BOOT", offset_bytes, "another sender: its packets are left out");
    }
    m_foreign_packets += same && !m_over ? 0 : 1;
    return same && !m_over;
}

bool Session::contradicts(std::uint32_t number, std::span<const std::byte> records, std::uint64_t offset_bytes) {
    Seen& seen = m_seen[number % m_seen.size()];
    const std::uint32_t checksum = lib::crc32c(records);
    if (seen.number != number) {
        seen = {number, checksum, offset_bytes};
        m_conflicts = 0;
        return false;
    }
    if (seen.checksum == checksum) {
        return false;
    }
    if (number == 1 || ++m_conflicts == kConflictsMax) {
        m_over = true;
        ++m_foreign_packets;
        report("E-BOOT", offset_bytes,
               fmt::format("the sender begins again, with packet {}: what follows is left out", number));
        return true;
    }
    report("E-CONFLICT", offset_bytes,
           fmt::format("packet {} has other contents than at 0x{:x}: the first is kept", number, seen.offset_bytes));
    return true;
}

lib::Result<void> Session::finish() {
    m_order.flush();
    const dat::PacketOrder::Counts& counts = m_order.counts();
    const auto report_packets = [&](trace::Code code, std::uint64_t packets, std::string_view what) {
        if (packets != 0) {
            report(code, m_offset_bytes, fmt::format("{} packet{} {}", packets, packets == 1 ? "" : "s", what));
        }
    };
    report_packets("W-DUP", counts.duplicate, "came more than once");
    report_packets("E-CONFLICT", counts.conflict, "came again with other contents: the first are kept");
    report_packets("W-PACKET", counts.late, "came after they were given up");
    report_packets("W-PACKET", counts.implausible, "skipped: a packet number that jumps too far");
    report_packets("W-PACKET", m_malformed, "skipped: the header contradicts itself or the datagram");
    report_packets("W-PACKET", m_other_versions, "skipped: only TRACER-V1.0 and TRACER-V2.0 can be read");
    report_packets("W-PACKET", m_foreign_packets, "left out: of another export");
    return m_result;
}

} // namespace host::formats::capture
