// SPDX-License-Identifier: MIT
// The header of a chunk and the rest of its preamble: what they state, whether that is believed, and what is done where
// they are damaged or lost.
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/chunk_cursor.hpp"
#include "host/text/format.hpp"
#include "lib/endian.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <array>

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

// A machine that is followed was started anew: its last part says so.
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

// The bytes after the header against the checksum that it states: of a file now, before any of its records is used; of
// a pipe when they have come.
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

// Called where a long event is given up. If it is the header of the chunk, it is not known whose records follow:
// they count as those of processor 0.
void ChunkCursor::lose_header() {
    if (!begins_chunk(m_first.record) || m_first.index != 0 || m_scope.chunk().described || m_ledger.is_skipped() ||
        m_ledger.distrusts_count()) {
        return;
    }
    m_assembler.reset();
    m_ledger.distrust("E-MAGIC", m_scope.chunk().begin_bytes, "the chunk's header is damaged",
                      m_scope.segment().preamble_slots != 0);
}

} // namespace host::formats::dat
