// SPDX-License-Identifier: MIT
// Decides for each record in which file it is stored, and counts what the manifest states.
#include "host/collector/session_writer.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "lib/crc32c.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <utility>

namespace host::collector {

using trace::kCodeOf;

namespace {

// The empty slots of a chunk are limited by the slots that have come, because one packet can claim that a million were
// lost.
constexpr std::uint64_t kEmptySlotsMin = std::uint64_t{1} << 15; // 512 KiB
constexpr std::uint64_t kEmptySlotsPerSlot = 16;

} // namespace

SessionWriter::SessionWriter(std::shared_ptr<SessionDirectory> directory, Syncer& syncer, const Limits& limits,
                             Usage& usage, Describe describe, Sealed sealed)
    : m_directory(std::move(directory))
    , m_syncer(syncer)
    , m_limits(limits)
    , m_usage(usage)
    , m_describe(std::move(describe))
    , m_sealed(std::move(sealed)) {}

void SessionWriter::fail(lib::Error error) {
    if (!m_error) {
        m_error = error;
    }
}

void SessionWriter::exceed(std::string limit) {
    m_exceeded = std::move(limit);
    fail(lib::Error::no_space);
}

bool SessionWriter::has_room(std::size_t bytes) {
    if (m_bytes + bytes > m_limits.session_bytes) {
        exceed(fmt::format("a session has at most {} bytes (--session-bytes)", m_limits.session_bytes));
    } else if (m_usage.bytes + bytes > m_limits.total_bytes) {
        exceed(fmt::format("all sessions together have at most {} bytes (--total-bytes)", m_limits.total_bytes));
    }
    return !m_error;
}

void SessionWriter::add(std::span<const std::byte> records, std::uint64_t lost_before) {
    if (m_error || !has_room(records.size())) {
        return;
    }
    if (lost_before != 0) {
        account_gap(lost_before);
    }
    m_packets += lost_before + 1;
    // A chunk begins with a packet. A compact stream does not consist of records, so within it only a whole chunk_begin
    // counts.
    if (in_stream() && begins_anew(records)) {
        end_file();
    }
    m_packet_records = std::max<std::uint64_t>(m_packet_records, records.size() / tracer::kRecordBytes);
    for (; records.size() >= tracer::kRecordBytes && !m_error; records = records.subspan(tracer::kRecordBytes)) {
        m_taken_bytes += tracer::kRecordBytes;
        add_record(records.first(tracer::kRecordBytes));
    }
}

std::optional<std::uint64_t> SessionWriter::remaining() const {
    if (m_file == nullptr || !m_chunks.back().described) {
        return std::nullopt;
    }
    const tracer::ChunkBegin& announced = m_chunks.back().description;
    const std::uint64_t all = std::uint64_t{announced.preamble_slots} + announced.records;
    return all - std::min(all, m_slots + m_slots_lost);
}

// Returns false for a chunk that is not described, because nothing announces a stream for it.
bool SessionWriter::in_stream() const {
    if (m_file == nullptr) {
        return false;
    }
    const tracer::ChunkBegin& announced = m_chunks.back().description;
    const std::uint64_t place = m_slots + m_slots_lost;
    return place >= announced.preamble_slots && place - announced.preamble_slots < tracer::stream_slots(announced);
}

// Returns whether the packet begins with a whole chunk_begin or export_end that can be decoded.
bool SessionWriter::begins_anew(std::span<const std::byte> records) {
    return formats::dat::read_chunk_begin(records).has_value() ||
           formats::dat::read_leading_event<tracer::ExportEnd>(kCodeOf<"export_end">, records).has_value();
}

void SessionWriter::account_gap(std::uint64_t lost_before) {
    m_in_export_end = false;
    const std::uint64_t slots = lost_before * m_packet_records;
    m_slots_lost += slots;
    if (m_gap.slots == 0) {
        m_gap.first_packet = m_packets + 1;
    }
    m_gap.packets += lost_before;
    m_gap.slots += slots;
    if (remaining() == std::optional<std::uint64_t>(0) ||
        m_slots_lost > kEmptySlotsMin + kEmptySlotsPerSlot * m_slots) {
        end_file();
    }
}

void SessionWriter::add_record(std::span<const std::byte> bytes) {
    const tracer::Record record = tracer::decode_record(bytes);
    if (in_stream()) {
        write(bytes, record);
        if (remaining() == std::optional<std::uint64_t>(0)) {
            end_file();
        }
        return;
    }
    if (formats::dat::begins_chunk(record)) {
        end_file();
        begin_file();
    } else if (record.combine() == tracer::Combine::first && record.event_code() == kCodeOf<"export_end">) {
        end_file();
        m_in_export_end = true;
    }
    if (m_in_export_end && record.event_code() == kCodeOf<"export_end">) {
        take_metadata(record);
        return;
    }
    m_in_export_end = false;
    if (m_file == nullptr) {
        // After a complete chunk the record is stray, because no chunk_begin announced it. Before any chunk or after a
        // gap it belongs to a chunk whose begin is lost.
        const bool after_complete_chunk =
            m_export_end.has_value() || (!m_chunks.empty() && m_chunks.back().missing == 0 && m_slots_lost == 0);
        if (after_complete_chunk) {
            ++m_stray;
            return;
        }
        begin_file();
    }
    if (!m_error) {
        write(bytes, record);
    }
    // While chunk_begin itself is written, the number of slots is not known.
    if (!m_assembler.is_open() && remaining() == std::optional<std::uint64_t>(0)) {
        end_file();
    }
}

void SessionWriter::begin_file() {
    if (m_chunks.size() >= m_limits.files) {
        exceed(fmt::format("a session has at most {} files", m_limits.files));
        return;
    }
    formats::dat::ManifestChunk chunk;
    chunk.file = fmt::format("{}trace.dat", m_chunks.size());
    const auto created = m_directory->create_file(chunk.file);
    m_file.reset(created ? ::fdopen(created.value(), "wb") : nullptr);
    if (m_file == nullptr) {
        fail(created ? lib::Error::io : created.error());
        return;
    }
    m_assembler.reset();
    m_slots = 0;
    m_slots_lost = 0;
    m_gap = {};
    m_sum.reset();
    m_chunks.push_back(std::move(chunk));
}

void SessionWriter::end_file() {
    if (m_file == nullptr) {
        return;
    }
    formats::dat::ManifestChunk& chunk = m_chunks.back();
    if (chunk.described) {
        const std::uint64_t all = std::uint64_t{chunk.description.preamble_slots} + chunk.description.records;
        chunk.missing = all - std::min(all, m_slots);
        check_sum();
    }
    if (std::fclose(m_file.release()) != 0) {
        fail(write_error());
    }
    if (m_sealed) {
        m_sealed(m_chunks.back());
    }
    m_listed = m_durability->manifest_idle();
    m_syncer.push({.directory = m_directory,
                   .durability = m_durability,
                   .file = m_chunks.back().file,
                   .manifest = m_listed ? std::optional(m_describe()) : std::nullopt,
                   .bytes = m_taken_bytes});
}

void SessionWriter::list_sealed() {
    if (!m_listed && m_durability->manifest_idle()) {
        m_listed = true;
        m_syncer.push(
            {.directory = m_directory, .durability = m_durability, .file = {}, .manifest = m_describe(), .bytes = 0});
    }
}

void SessionWriter::sync() {
    if (m_file != nullptr && !m_error) {
        if (std::fflush(m_file.get()) != 0) {
            fail(write_error());
        }
        m_syncer.push({.directory = m_directory,
                       .durability = m_durability,
                       .file = m_chunks.back().file,
                       .manifest = std::nullopt,
                       .bytes = m_taken_bytes});
    }
}

// The checksum of a chunk with missing slots cannot be compared.
void SessionWriter::check_sum() {
    const formats::dat::ManifestChunk& chunk = m_chunks.back();
    if (m_sum && chunk.missing == 0 && m_sum->value() != chunk.description.crc32c) {
        ++m_wrong_sums;
    }
}

void SessionWriter::store(std::span<const std::byte> bytes) {
    formats::dat::ManifestChunk& chunk = m_chunks.back();
    if (std::fwrite(bytes.data(), 1, bytes.size(), m_file.get()) != bytes.size()) {
        fail(write_error());
        return;
    }
    m_bytes += bytes.size();
    m_usage.bytes += bytes.size();
    chunk.crc32c = lib::crc32c(bytes, chunk.crc32c);
    chunk.bytes += bytes.size();
}

// Fills the gap before `next` with empty slots, if the chunk states its length, so that what follows keeps its
// position.
void SessionWriter::fill_gap(const tracer::Record& next) {
    formats::dat::ManifestChunk& chunk = m_chunks.back();
    formats::dat::ManifestGap gap = std::exchange(m_gap, {});
    if (gap.slots == 0 || !chunk.described || !has_room(gap.slots * tracer::kRecordBytes)) {
        return;
    }
    const bool has_stamps = chunk.description.encoding == tracer::Encoding::records;
    gap.offset = chunk.bytes;
    gap.tsc_before = chunk.last_tsc;
    gap.tsc_after = has_stamps ? std::optional(next.stamp().value) : std::nullopt;
    constexpr std::array<std::byte, tracer::kRecordBytes> kEmpty{};
    for (std::uint64_t slot = 0; slot < gap.slots && !m_error; ++slot) {
        store(kEmpty);
    }
    chunk.gaps.push_back(gap);
}

void SessionWriter::write(std::span<const std::byte> bytes, const tracer::Record& record) {
    formats::dat::ManifestChunk& chunk = m_chunks.back();
    fill_gap(record);
    store(bytes);
    if (m_error) {
        return;
    }
    if (m_sum) {
        m_sum->add(bytes);
    }
    const bool stream = in_stream();
    const bool in_preamble = chunk.described && m_slots + m_slots_lost < chunk.description.preamble_slots;
    const bool may_be_metadata = !chunk.described || in_preamble || record.event_code() == kCodeOf<"export_end">;
    const bool metadata_family = !stream && may_be_metadata && formats::dat::is_metadata_family(record.code);
    ++m_slots;
    if (metadata_family) {
        ++chunk.preamble;
        take_metadata(record);
        return;
    }
    m_assembler.reset();
    if (in_preamble) {
        ++chunk.preamble;
        return;
    }
    ++chunk.records;
    ++m_records;
    if (chunk.described && chunk.description.encoding != tracer::Encoding::records) {
        return; // the stamps of a stream are only known after decoding
    }
    if (!chunk.first_tsc) {
        chunk.first_tsc = record.stamp().value;
    }
    chunk.last_tsc = record.stamp().value;
}

void SessionWriter::take_metadata(const tracer::Record& record) {
    using Outcome = formats::dat::CombinedAssembler::Outcome;
    Outcome outcome = m_assembler.feed(record);
    if (outcome == Outcome::broken) {
        outcome = m_assembler.feed(record);
    }
    if (outcome != Outcome::complete) {
        return;
    }
    switch (record.event_code()) {
    case kCodeOf<"chunk_begin">:
        if (const auto begin = tracer::decode_payload<tracer::ChunkBegin>(m_assembler.payload());
            begin && begin.value().preamble_slots >= m_slots) {
            m_chunks.back().described = true;
            m_chunks.back().description = begin.value();
            if (tracer::is_sealed(begin.value())) {
                m_sum.emplace(m_assembler.payload(), record.stamp(), m_assembler.other_bits());
            }
        }
        break;
    case kCodeOf<"build">:
        if (const auto build = tracer::decode_payload<tracer::Build>(m_assembler.payload()); build) {
            m_build = build.value();
        }
        break;
    case kCodeOf<"export_end">:
        if (const auto end = tracer::decode_payload<tracer::ExportEnd>(m_assembler.payload()); end) {
            m_export_end = end.value();
        }
        m_in_export_end = false;
        break;
    default:
        break;
    }
}

void SessionWriter::finish() {
    end_file();
}

} // namespace host::collector
