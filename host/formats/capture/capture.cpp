// SPDX-License-Identifier: MIT
#include "host/formats/capture/capture.hpp"

#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/crc32c.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::formats::capture {

namespace {

constexpr std::string_view kAnyVersion = "TRACER-V";
constexpr std::size_t kSizeAt = 20; // of the size in a packet of any version

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

// Takes the packets of one export from a capture, checks them against each other, and gives them in the order of their
// numbers: whoever merges captures, or sorts one, may have any other order.
class Session {
  public:
    Session(trace::Spool spool, std::string file, trace::Diagnostics& diagnostics)
        : m_spool(std::move(spool))
        , m_file(std::move(file))
        , m_diagnostics(diagnostics)
        , m_seen(kSeenMax) {}

    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Takes the packets of a datagram that are of this export; offset_bytes: that of its frame. There are several if
    // the sender's network adapter, or the receiver's, was to cut or has joined them.
    void take(const Datagram& datagram, std::uint64_t offset_bytes);

    // Must be called after the last frame: puts the packets in order and reports totals. is_strict: the order ends at
    // the first missing packet. Errors: no_space, io (of the spool).
    [[nodiscard]] lib::Result<void> finish(bool is_strict);

    // Returns the records in order; null if there is no packet. Must be called after finish(), once.
    [[nodiscard]] std::shared_ptr<trace::ByteSource> records() {
        return m_parts.empty() ? nullptr : trace::ByteSource::of_parts(m_spool.take(), std::move(m_parts));
    }

    // Returns how many packet numbers were skipped; after finish().
    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

  private:
    // Holds what is kept of a packet whose records are in the spool.
    struct Held {
        std::uint32_t number = 0; // 0: none
        std::uint32_t checksum = 0;
        std::uint64_t frame_bytes = 0; // offset of its frame
        trace::ByteSource::Part records{};
    };

    static constexpr std::size_t kSeenMax = 8192;
    // If so many packets in a row contradict earlier packets of the same numbers, they belong to another export.
    static constexpr unsigned kConflictsMax = 3;
    // Numbers that are further apart are not of one export.
    static constexpr std::uint32_t kJumpMax = 1U << 20;

    void take_packet(const Datagram& datagram, std::span<const std::byte> payload, std::uint64_t offset_bytes);
    [[nodiscard]] bool is_ours(const Datagram& datagram, std::uint64_t offset_bytes);
    [[nodiscard]] bool contradicts(const Held& packet);
    [[nodiscard]] std::span<const Held> plausible_packets();
    void deliver(std::span<const Held> packets, bool is_strict);
    void report(trace::Code code, std::uint64_t offset_bytes, std::string_view text);
    void report_packets(trace::Code code, std::uint64_t packets, std::string_view what);

    trace::Spool m_spool;
    std::string m_file;
    trace::Diagnostics& m_diagnostics;
    std::vector<Held> m_packets; // as they come, then by number
    std::vector<Held> m_seen;    // by number modulo its size
    std::vector<trace::ByteSource::Part> m_parts;
    std::optional<Datagram> m_sender;
    std::uint64_t m_offset_bytes = 0; // offset of the current frame
    unsigned m_conflicts = 0;
    bool m_over = false; // another export of the same sender has begun
    std::uint64_t m_lost = 0;
    std::uint64_t m_implausible = 0;
    std::uint64_t m_foreign_packets = 0;
    std::uint64_t m_malformed = 0;
    std::uint64_t m_other_versions = 0;
    lib::Result<void> m_result{};
};

void Session::report(trace::Code code, std::uint64_t offset_bytes, std::string_view text) {
    m_diagnostics.report(code, {.file = m_file, .offset_bytes = offset_bytes}, text);
}

void Session::report_packets(trace::Code code, std::uint64_t packets, std::string_view what) {
    if (packets != 0) {
        report(code, m_offset_bytes, fmt::format("{} packet{} {}", packets, packets == 1 ? "" : "s", what));
    }
}

void Session::take(const Datagram& datagram, std::uint64_t offset_bytes) {
    std::span<const std::byte> rest = datagram.payload;
    while (starts_with(rest, kAnyVersion)) {
        // Every version states the size of a packet at the same place.
        const std::size_t stated = rest.size() >= tracer::kPacketHeaderBytes
                                       ? lib::load_le<std::uint32_t>(rest.subspan(kSizeAt))
                                       : rest.size();
        const bool has_next = stated >= tracer::kPacketHeaderBytes && stated < rest.size() &&
                              starts_with(rest.subspan(stated), kAnyVersion);
        const std::size_t bytes = has_next ? stated : rest.size();
        take_packet(datagram, rest.first(bytes), offset_bytes);
        rest = rest.subspan(bytes);
    }
}

void Session::take_packet(const Datagram& datagram, std::span<const std::byte> payload, std::uint64_t offset_bytes) {
    const std::string_view magic(tracer::kPacketMagicV1.data(), tracer::kPacketMagicV1.size());
    if (!starts_with(payload, magic) && !tracer::reliable::is_version_2(payload)) {
        ++m_other_versions;
        return;
    }
    const auto packet = packet_of(payload);
    if (!packet) {
        ++m_malformed;
        return;
    }
    const auto [number, records] = packet.value();
    if (number == 0) {
        return;
    }
    m_offset_bytes = offset_bytes;
    const Held held{.number = number,
                    .checksum = lib::crc32c(records),
                    .frame_bytes = offset_bytes,
                    .records = {m_spool.size_bytes(), records.size()}};
    if (!is_ours(datagram, offset_bytes) || contradicts(held) || !m_result) {
        return;
    }
    m_packets.push_back(held);
    m_result = m_spool.append(records);
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

bool Session::contradicts(const Held& packet) {
    Held& seen = m_seen[packet.number % m_seen.size()];
    if (seen.number != packet.number) {
        seen = packet;
        m_conflicts = 0;
        return false;
    }
    if (seen.checksum == packet.checksum) {
        return false;
    }
    if (packet.number == 1 || ++m_conflicts == kConflictsMax) {
        m_over = true;
        ++m_foreign_packets;
        report("E-BOOT", packet.frame_bytes,
               fmt::format("the sender begins again, with packet {}: what follows is left out", packet.number));
        return true;
    }
    report(
        "E-CONFLICT", packet.frame_bytes,
        fmt::format("packet {} has other contents than at 0x{:x}: the first is kept", packet.number, seen.frame_bytes));
    return true;
}

// Returns those packets, in order, whose numbers are near to those of most packets: a wrong number may be any.
std::span<const Session::Held> Session::plausible_packets() {
    std::ranges::stable_sort(m_packets, {}, &Held::number);
    std::span<const Held> longest;
    for (std::span<const Held> rest = m_packets; !rest.empty();) {
        std::size_t count = 1;
        while (count < rest.size() && rest[count].number - rest[count - 1].number <= kJumpMax) {
            ++count;
        }
        longest = count > longest.size() ? rest.first(count) : longest;
        rest = rest.subspan(count);
    }
    m_implausible = m_packets.size() - longest.size();
    return longest;
}

void Session::deliver(std::span<const Held> packets, bool is_strict) {
    std::uint64_t duplicates = 0;
    std::uint64_t conflicts = 0;
    std::uint64_t expected = 1;
    const Held* first = nullptr; // of this number
    for (const Held& packet : packets) {
        if (first != nullptr && first->number == packet.number) {
            ++(first->checksum == packet.checksum ? duplicates : conflicts);
            continue;
        }
        first = &packet;
        if (const std::uint64_t missing = packet.number - expected; missing != 0) {
            m_lost += missing;
            report("W-GAP", packet.frame_bytes,
                   fmt::format("{} packet{} missing", missing, missing == 1 ? " is" : "s are"));
            if (is_strict) {
                break;
            }
        }
        expected = std::uint64_t{packet.number} + 1;
        const trace::ByteSource::Part& records = packet.records;
        if (!m_parts.empty() && m_parts.back().begin_bytes + m_parts.back().size_bytes == records.begin_bytes) {
            m_parts.back().size_bytes += records.size_bytes;
        } else {
            m_parts.push_back(records);
        }
    }
    report_packets("W-DUP", duplicates, "came more than once");
    report_packets("E-CONFLICT", conflicts, "came again with other contents: the first are kept");
}

lib::Result<void> Session::finish(bool is_strict) {
    deliver(plausible_packets(), is_strict);
    report_packets("W-PACKET", m_implausible, "skipped: a packet number that jumps too far");
    report_packets("W-PACKET", m_malformed, "skipped: the header contradicts itself or the datagram");
    report_packets("W-PACKET", m_other_versions, "skipped: only TRACER-V1.0 and TRACER-V2.0 can be read");
    report_packets("W-PACKET", m_foreign_packets, "left out: of another export");
    return m_result;
}

// Frames of a link type that cannot be read.
struct Unread {
    std::uint64_t offset_bytes = 0; // of the first
    std::uint64_t frames = 0;
};

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
    std::map<std::uint16_t, Unread> unread; // by link type
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
            unread.try_emplace(frame.link_type, Unread{.offset_bytes = frame.offset_bytes}).first->second.frames++;
        } else if (verdict == Verdict::datagram || (verdict == Verdict::bad_checksum && options.salvage)) {
            session.take(datagram, frame.offset_bytes);
        }
    }
    const auto finished = session.finish(options.strict);
    auto packets = session.records();
    // Nothing is missing because of another interface, if nothing is missing.
    if (packets == nullptr || session.lost() != 0) {
        for (const auto& [link_type, skipped] : unread) {
            diagnostics.report("E-LINKTYPE", {.file = input.name, .offset_bytes = skipped.offset_bytes},
                               fmt::format("link type {} cannot be read: {} frame{} skipped", link_type, skipped.frames,
                                           skipped.frames == 1 ? "" : "s"));
        }
    }
    tally.report(input.name, diagnostics, options.salvage);
    if (!finished) {
        diagnostics.report("E-IO", {.file = input.name},
                           fmt::format("the temporary file: {}", error_name(finished.error())));
        diagnostics.unusable_input(finished.error());
        return finished.error();
    }
    if (packets == nullptr) {
        diagnostics.report("E-EMPTY", {.file = input.name},
                           fmt::format("none of {} frames holds a TRACER-V1.0 packet", count));
        return lib::Error::corrupt;
    }
    const trace::NamedSource records{.name = input.name, .bytes = std::move(packets), .keep_open = true};
    auto stream = dat::RecordStream::of_sources(std::span(&records, 1), options, diagnostics);
    if (stream) {
        stream.value()->note_absent({.parts = session.lost()});
    }
    return stream;
}

} // namespace host::formats::capture
