// SPDX-License-Identifier: MIT
#include "host/collector/session.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <utility>

namespace host::collector {

namespace {

// After a quarter of a second without a packet, missing ones are considered lost.
constexpr std::chrono::milliseconds kStraggler{250};

std::uint64_t seconds_since_1970() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(std::chrono::floor<std::chrono::seconds>(since).count(), 0));
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view several) {
    return fmt::format("{} {}", number, number == 1 ? one : several);
}

} // namespace

Session::Session(std::shared_ptr<SessionDirectory> directory, const Surroundings& surroundings)
    : m_surroundings(surroundings)
    , m_directory(std::move(directory))
    , m_overflow_before(surroundings.strays.socket_overflow)
    , m_writer(
          m_directory, surroundings.syncer, surroundings.limits, surroundings.usage, [this] { return manifest(); },
          [this](const formats::dat::ManifestChunk& chunk) { m_surroundings.observer.sealed(view(), chunk); })
    , m_order([this](std::span<const std::byte> records, std::uint64_t lost) { m_writer.add(records, lost); })
    , m_started_s(seconds_since_1970()) {
    // A collector that is killed before the first flush leaves this manifest, by which the next one knows the files.
    static_cast<void>(formats::dat::save_text(to_json_text(manifest()), m_directory->descriptor(),
                                              formats::dat::kManifestName, formats::dat::Flush::later));
    save();
}

void Session::bind(const Address& sender, std::uint64_t boot_id, Clock::time_point now) {
    m_sender = sender;
    m_started_s = seconds_since_1970();
    m_last_packet = now;
    m_boot_id = boot_id;
}

void Session::take(std::uint32_t number, std::span<const std::byte> records, std::optional<std::uint64_t> boot_id,
                   Clock::time_point now) {
    m_last_packet = now;
    m_boot_id = m_boot_id == 0 ? boot_id.value_or(0) : m_boot_id;
    m_order.accept(number, records);
}

// The boot is not known if the session began in the middle of an export. Then a number that the session has already
// passed belongs to another boot.
bool Session::is_other_boot(std::uint64_t boot_id, std::uint32_t number) const {
    return boot_id != 0 && (m_boot_id == 0 ? number < m_order.expected() : boot_id != m_boot_id);
}

void Session::tick(Clock::time_point now) {
    list_sealed();
    if (m_order.waiting() && now - m_last_packet >= kStraggler) {
        m_order.flush();
    }
}

void Session::close(const std::string& cut) {
    m_order.flush();
    m_writer.finish();
    m_closed = true;
    m_cut = cut;
    m_last = manifest();
    save();
}

void Session::save() {
    m_surroundings.syncer.push({.directory = m_directory,
                                .durability = m_writer.durability(),
                                .file = {},
                                .manifest = m_closed ? m_last : manifest(),
                                .bytes = m_writer.taken_bytes()});
}

formats::dat::Manifest Session::result() const {
    formats::dat::Manifest result = m_last;
    if (const auto error = m_writer.error(); error && m_writer.exceeded().empty()) {
        result.complete = false;
        result.reason = fmt::format("writing failed: {}", error_name(*error));
    }
    return result;
}

SessionView Session::view() const {
    return {.directory = m_directory->path(), .sender = m_sender, .boot_id = m_boot_id};
}

formats::dat::Manifest Session::manifest() const {
    formats::dat::Manifest manifest;
    manifest.origin = "udp";
    manifest.started_s = m_started_s;
    manifest.boot_id = m_boot_id; // even if there was no space for a chunk
    // Only whole chunks, because what is stated must be true of the whole.
    const auto sealed = m_writer.sealed_chunks();
    manifest.chunks.assign(sealed.begin(), sealed.end());
    manifest.build = m_writer.build();
    manifest.announced = m_writer.export_end();
    const auto described = std::ranges::find_if(manifest.chunks, &formats::dat::ManifestChunk::described);
    if (described != manifest.chunks.end()) {
        manifest.clock_mode = described->description.clock_mode;
        manifest.tsc_source = described->description.tsc_source;
        manifest.tsc_khz = described->description.tsc_khz;
        manifest.tsc_error_ppm = described->description.tsc_error_ppm;
        manifest.boot_id = described->description.boot_id;
    }
    manifest.transfer = transfer();
    manifest.reason = m_closed ? missing() : "the collector was still receiving, or was killed";
    manifest.complete = manifest.reason.empty();
    return manifest;
}

formats::dat::ManifestTransfer Session::transfer() const {
    const formats::dat::PacketOrder::Counts& counts = m_order.counts();
    const Strays& strays = m_surroundings.strays;
    return {.packets = counts.delivered,
            .lost = counts.lost,
            .late = counts.late,
            .duplicate = counts.duplicate,
            .conflicts = counts.conflict,
            .reordered = counts.reordered,
            .malformed = m_malformed + counts.implausible +
                         (m_surroundings.alone ? strays.malformed + strays.malformed_acknowledged : 0),
            .other_senders = m_surroundings.alone ? strays.packets : 0,
            .socket_overflow = strays.socket_overflow - m_overflow_before,
            .stray_records = m_writer.stray_records(),
            .records = m_writer.records()};
}

// Returns why the session is not complete; empty if it is.
std::string Session::missing() const {
    const formats::dat::PacketOrder::Counts& counts = m_order.counts();
    if (!m_writer.exceeded().empty()) {
        return "cut off by a limit: " + m_writer.exceeded();
    }
    if (!m_sender) {
        const std::uint64_t strays = m_surroundings.strays.packets;
        return strays == 0 ? fmt::format("no packet came: {}", m_cut)
                           : fmt::format("no chunk came, only {} that belong{} to none: {}",
                                         counted(strays, "packet", "packets"), strays == 1 ? "s" : "", m_cut);
    }
    if (counts.lost != 0) {
        return counted(counts.lost, "packet was lost", "packets were lost");
    }
    if (counts.conflict != 0) {
        return counted(counts.conflict, "packet", "packets") + " came again with other contents: another sender, or a "
                                                               "machine that was reset";
    }
    if (m_surroundings.alone && m_surroundings.strays.traces != 0) {
        return fmt::format("another sender, {}, sent a trace at the same time (--serve keeps each in a session of its "
                           "own)",
                           to_text(m_surroundings.strays.sender));
    }
    return unfinished();
}

// Returns what the sender announced and did not send.
std::string Session::unfinished() const {
    const auto& end = m_writer.export_end();
    const auto& chunks = m_writer.chunks();
    if (!end) {
        const bool plain = std::ranges::none_of(chunks, &formats::dat::ManifestChunk::described);
        return plain && !chunks.empty() ? fmt::format("a stream without metadata has no end mark: {}", m_cut)
                                        : fmt::format("the end of the export never came: {}", m_cut);
    }
    std::uint64_t missing_records = 0;
    for (const formats::dat::ManifestChunk& chunk : chunks) {
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
    if (end->chunks != chunks.size() || end->records != m_writer.records()) {
        return fmt::format("the sender announces {} chunks with {} records; {} with {} came", end->chunks, end->records,
                           chunks.size(), m_writer.records());
    }
    return {};
}

} // namespace host::collector
