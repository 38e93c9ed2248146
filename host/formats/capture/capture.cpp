// SPDX-License-Identifier: MIT
#include "host/formats/capture/capture.hpp"

#include "host/formats/dat/packet_order.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/crc32c.hpp"
#include "lib/result.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::formats::capture {

namespace {

constexpr std::string_view kAnyVersion = "TRACER-V";

bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
    return bytes.size() >= text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin(),
                      [](char character, std::byte byte) { return static_cast<std::byte>(character) == byte; });
}

struct Packet {
    std::uint32_t number = 0; // 0: the packet has no records
    std::span<const std::byte> records{};
};

// Returns the packet in a payload. corrupt: the header contradicts itself or the datagram.
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

// Takes the packets of one export from a capture, puts them in order, checks them against each other, and writes them
// one after another.
class Session {
  public:
    Session(trace::Spool spool, std::string file, trace::Diagnostics& diagnostics);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Takes a datagram if it is a packet of this export; offset_bytes: that of its frame.
    void take(const Datagram& datagram, std::uint64_t offset_bytes);

    // Must be called after the last frame: delivers waiting packets and reports totals. Errors: no_space, io (of the
    // spool).
    [[nodiscard]] lib::Result<void> finish();

    [[nodiscard]] std::uint64_t delivered() const { return m_order.counts().delivered; }

    // Returns how many packet numbers were skipped; after finish().
    [[nodiscard]] std::uint64_t lost() const { return m_order.counts().lost; }

    // Returns what was delivered; after finish().
    [[nodiscard]] std::shared_ptr<trace::ByteSource> records() { return m_spool.take(); }

  private:
    // Holds what is kept of a packet in order to recognize it.
    struct Seen {
        std::uint32_t number = 0; // 0: none
        std::uint32_t checksum = 0;
        std::uint64_t offset_bytes = 0;
    };

    static constexpr std::size_t kSeenMax = 8192;
    // If so many packets in a row contradict earlier packets of the same numbers, they belong to another export.
    static constexpr unsigned kConflictsMax = 3;

    [[nodiscard]] bool is_ours(const Datagram& datagram, std::uint64_t offset_bytes);
    [[nodiscard]] bool contradicts(std::uint32_t number, std::span<const std::byte> records,
                                   std::uint64_t offset_bytes);
    void report(trace::Code code, std::uint64_t offset_bytes, std::string_view text);

    trace::Spool m_spool;
    std::string m_file;
    trace::Diagnostics& m_diagnostics;
    std::vector<Seen> m_seen; // by number modulo its size
    std::optional<Datagram> m_sender;
    std::uint64_t m_offset_bytes = 0; // offset of the current frame
    unsigned m_conflicts = 0;
    bool m_over = false; // another export of the same sender has begun
    std::uint64_t m_foreign_packets = 0;
    std::uint64_t m_malformed = 0;
    std::uint64_t m_other_versions = 0;
    lib::Result<void> m_result{};
    dat::PacketOrder m_order;
};

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

class Tally {
  public:
    void count(Verdict verdict, std::uint64_t offset_bytes) {
        const auto index = static_cast<std::size_t>(verdict);
        m_first[index] = m_counts[index]++ == 0 ? offset_bytes : m_first[index];
    }

    // Returns whether something is lost with a frame of this verdict.
    [[nodiscard]] static bool is_damage(Verdict verdict) { return !verdict_text(verdict).empty(); }

    void report(const std::string& file, trace::Diagnostics& diagnostics, bool salvage) const {
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            const std::string_view why = verdict_text(static_cast<Verdict>(i));
            if (m_counts[i] != 0 && !why.empty()) {
                const bool used = salvage && static_cast<Verdict>(i) == Verdict::bad_checksum;
                diagnostics.report(
                    "W-PACKET", {.file = file, .offset_bytes = m_first[i]},
                    fmt::format("{} frames {}: {}", m_counts[i], used ? "used all the same" : "skipped", why));
            }
        }
    }

  private:
    std::array<std::uint64_t, kVerdicts> m_counts{};
    std::array<std::uint64_t, kVerdicts> m_first{}; // place
};

} // namespace

lib::Result<std::unique_ptr<dat::RecordStream>> open(const trace::NamedSource& input, const trace::OpenOptions& options,
                                                     trace::Diagnostics& diagnostics) {
    auto spool = trace::Spool::create();
    if (!spool) {
        diagnostics.report("E-IO", {.file = input.name}, "no temporary file can be made: see TMPDIR");
        diagnostics.unusable_input(spool.error());
        return spool.error();
    }
    FrameSource frames(input, diagnostics);
    Session session(std::move(spool.value()), input.name, diagnostics);
    Tally tally;
    std::uint64_t count = 0;
    const std::uint64_t damages = diagnostics.damages();
    for (Frame frame; frames.next(frame); ++count) {
        if (options.strict && diagnostics.damages() != damages) {
            break;
        }
        Datagram datagram;
        const Verdict verdict = find_datagram(frame.link_type, frame.bytes, datagram);
        tally.count(verdict, frame.offset_bytes);
        if (options.strict && Tally::is_damage(verdict)) {
            break;
        }
        if (verdict == Verdict::unknown_link) {
            diagnostics.report("E-LINKTYPE", {.file = input.name, .offset_bytes = frame.offset_bytes},
                               fmt::format("link type {} cannot be read: frame skipped", frame.link_type));
        } else if (verdict == Verdict::datagram || (verdict == Verdict::bad_checksum && options.salvage)) {
            session.take(datagram, frame.offset_bytes);
        }
    }
    const auto finished = session.finish();
    tally.report(input.name, diagnostics, options.salvage);
    if (!finished) {
        diagnostics.report("E-IO", {.file = input.name},
                           fmt::format("the temporary file: {}", error_name(finished.error())));
        diagnostics.unusable_input(finished.error());
        return finished.error();
    }
    if (session.delivered() == 0) {
        diagnostics.report("E-EMPTY", {.file = input.name},
                           fmt::format("none of {} frames holds a TRACER-V1.0 packet", count));
        return lib::Error::corrupt;
    }
    const trace::NamedSource records{.name = input.name, .bytes = session.records(), .keep_open = true};
    auto stream = dat::RecordStream::of_sources(std::span(&records, 1), options, diagnostics);
    if (stream) {
        stream.value()->note_absent({.parts = session.lost()});
    }
    return stream;
}

} // namespace host::formats::capture
