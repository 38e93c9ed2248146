// SPDX-License-Identifier: MIT
// Reads the header of a chunk and the rest of its preamble: what they state, whether that is accepted, and what is done
// if they are damaged or lost. Computes the checksum that the header states.
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/chunk_cursor.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "tracer/chunk/chunk_seal.hpp"
#include "tracer/compact/stream_header.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace host::formats::dat {

namespace {

// Returns the size of the fields that this reader knows, the length word included.
std::size_t known_bytes(const tracer::ChunkBegin& description) {
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
    const auto size = tracer::encode_payload(description, bytes);
    return size ? size.value() : bytes.size();
}

} // namespace

void ChunkCursor::take_metadata_payload(const trace::Event& event, std::span<const std::byte> payload) {
    bool decoded = true;
    if (event.code == trace::kCodeOf<"chunk_begin">) {
        const auto description = tracer::decode_payload<tracer::ChunkBegin>(payload);
        decoded = description.ok();
        if (decoded) {
            take_description(description.value());
        }
    } else {
        decoded = trace::take_metadata(event.code, payload, m_scope.facts(), &m_names);
        const auto& build = m_scope.facts().build;
        if (decoded && event.code == trace::kCodeOf<"build"> && build->names_lost != 0) {
            m_scope.report(
                "W-NAMES", event.offset_bytes,
                fmt::format("the kernel's table of names was full: {} names are not here; give it more names",
                            build->names_lost));
        }
    }
    if (!decoded) {
        m_scope.report("E-META", event.offset_bytes,
                       fmt::format("{} cannot be decoded: a field is cut or makes no sense", event.row->name));
        lose_header();
    }
}

void ChunkCursor::take_description(const tracer::ChunkBegin& description) {
    if (is_of_another_run(description) ||
        !m_ledger.accept(description, m_first, m_slots.slots_taken(), m_slots.is_seekable())) {
        return;
    }
    trace::ChunkReport& chunk = m_scope.chunk();
    m_scope.facts().boot_id = description.boot_id;
    chunk.described = true;
    chunk.description = description;
    m_exported = m_first.record.stamp();
    chunk.preamble = m_slots.slots_taken();
    chunk.records = 0;
    chunk.events = 0;
    const auto length = lib::load_le<std::uint16_t>(m_assembler.payload());
    const std::size_t known = known_bytes(description);
    if (length > known && m_scope.diagnostics().count("W-MINOR") == 0) {
        m_scope.report(
            "W-MINOR", m_first.offset_bytes,
            fmt::format("the chunk's header has {} bytes that this version does not know: ignored", length - known));
    }
    take_clock(m_scope, description, m_first.offset_bytes);
    check_sum(description);
}

// Returns whether the part is of another run: the machine that is followed was restarted, and its last part says so.
bool ChunkCursor::is_of_another_run(const tracer::ChunkBegin& description) {
    trace::TraceFacts& facts = m_scope.facts();
    if (!m_scope.segment().followed || !facts.boot_id || *facts.boot_id == description.boot_id) {
        return false;
    }
    facts.restarted = true;
    m_scope.report("E-BOOT", m_first.offset_bytes,
                   "the machine was reset or started anew, or its memory cannot be read any more: what it recorded "
                   "after the last event is not known");
    return true;
}

// Compares the bytes after the header with the checksum that it states: of a file now, before any of its records is
// used; of a pipe when they have been read.
void ChunkCursor::check_sum(const tracer::ChunkBegin& description) {
    if (!tracer::is_sealed(description)) {
        return;
    }
    const ChunkSum sum(m_assembler.payload(), m_first.record.stamp(), m_assembler.other_bits());
    const std::uint64_t slots = std::uint64_t{description.preamble_slots} + description.records;
    m_slots.check_sum(sum, description.crc32c, (slots - m_slots.slots_taken()) * tracer::kRecordBytes);
}

// Checks the first two slots of a chunk: true if they show that its header is damaged and the chunk is given up.
bool ChunkCursor::is_header_lost(const Slot& slot) {
    if (slot.compact || slot.index > 1) {
        return false;
    }
    if (slot.index == 0) {
        return m_ledger.reject_swapped(slot);
    }
    if (slot.record.event_code() == trace::kCodeOf<"chunk_begin"> && slot.record.combine() == tracer::Combine::middle &&
        !begins_chunk(m_first.record)) {
        m_assembler.reset();
        m_ledger.distrust("E-MAGIC", m_scope.chunk().begin_bytes, "the first slot of the chunk's header is damaged",
                          m_scope.segment().preamble_slots != 0);
    }
    return m_ledger.is_skipped();
}

// Must be called when a long event is given up. If it is the header of the chunk, it is not known which processor wrote
// the records that follow: they count as those of processor 0.
void ChunkCursor::lose_header() {
    if (!begins_chunk(m_first.record) || m_first.index != 0 || m_scope.chunk().described || m_ledger.is_skipped() ||
        m_ledger.distrusts_count()) {
        return;
    }
    m_assembler.reset();
    m_ledger.distrust("E-MAGIC", m_scope.chunk().begin_bytes, "the chunk's header is damaged",
                      m_scope.segment().preamble_slots != 0);
}

// --- the checksum ----------------------------------------------------------------------------------------------------

ChunkSum::ChunkSum(std::span<const std::byte> payload, lib::Ticks stamp, std::uint16_t other_bits) {
    ASSERT(payload.size() <= tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot);
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
    std::ranges::copy(payload, bytes.begin());
    std::fill_n(bytes.begin() + tracer::kCrc32cOffset, sizeof(std::uint32_t), std::byte{0});
    std::array<tracer::Record, tracer::kCombineSlotsMax> slots;
    const auto count = tracer::encode_combined(trace::kCodeOf<"chunk_begin">, stamp,
                                               std::span<const std::byte>(bytes).first(payload.size()), slots);
    ASSERT(count.ok()); // the payload came from so many slots
    slots[0].code = static_cast<std::uint16_t>(slots[0].code | other_bits);
    for (std::size_t i = 0; i < count.value(); ++i) {
        std::array<std::byte, tracer::kRecordBytes> slot{};
        tracer::encode_record(slots[i], slot);
        add(slot);
    }
}

void ChunkSum::add(std::span<const std::byte> bytes) {
    m_value = trace::checksum(bytes, m_value);
}

namespace {

bool has_empty_slot(std::span<const std::byte> slots) {
    for (; slots.size() >= tracer::kRecordBytes; slots = slots.subspan(tracer::kRecordBytes)) {
        if (std::ranges::all_of(slots.first(tracer::kRecordBytes),
                                [](std::byte byte) { return byte == std::byte{0}; })) {
            return true;
        }
    }
    return false;
}

} // namespace

ChunkBytes check_bytes(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t size_bytes, ChunkSum sum,
                       std::uint32_t stated, std::span<const std::byte> held) {
    held = held.first(std::min<std::uint64_t>(held.size(), size_bytes));
    sum.add(held);
    bool holed = has_empty_slot(held);
    std::vector<std::byte> buffer(std::min<std::uint64_t>(trace::ByteSource::kBufferBytes, size_bytes - held.size()));
    for (std::uint64_t at = held.size(); at < size_bytes;) {
        const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size_bytes - at));
        const auto got = source.read(offset_bytes + at, piece);
        if (!got || got.value() != piece.size()) {
            return ChunkBytes::unread;
        }
        sum.add(piece);
        holed = holed || has_empty_slot(piece);
        at += piece.size();
    }
    return sum.value() == stated ? ChunkBytes::whole : holed ? ChunkBytes::holed : ChunkBytes::damaged;
}

bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t stream_bytes) {
    using namespace tracer::compact; // NOLINT(google-build-using-namespace): one function about one thing
    std::array<std::byte, kHeaderBytes> head{};
    const auto count = source.read(offset_bytes, head);
    const std::span<const std::byte> view = head;
    const bool sealed = count && count.value() == head.size() && lib::load_le<std::uint32_t>(view) == kMagic &&
                        (std::to_integer<std::uint8_t>(view[6]) & kFlagSealed) != 0 &&
                        lib::load_le<std::uint32_t>(view.subspan(16)) == stream_bytes;
    if (!sealed || stream_bytes < head.size()) {
        return true;
    }
    std::uint32_t crc = trace::checksum(view.first(kChecksumAt));
    std::vector<std::byte> buffer(trace::ByteSource::kBufferBytes);
    for (std::uint64_t at = head.size(); at < stream_bytes;) {
        const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), stream_bytes - at));
        const auto got = source.read(offset_bytes + at, piece);
        if (!got || got.value() != piece.size()) {
            return true; // the stream is cut, and the decoder reports where
        }
        crc = trace::checksum(piece, crc);
        at += piece.size();
    }
    return crc == lib::load_le<std::uint32_t>(view.subspan(kChecksumAt));
}

} // namespace host::formats::dat
