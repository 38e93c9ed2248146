// SPDX-License-Identifier: MIT
// The fast path: plain records in a row, many at once, straight from the buffer.
#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/plain_record.hpp"

#include <algorithm>

namespace host::formats::dat {

// What all plain records of a chunk have in common.
trace::Event ChunkCursor::common_of(const trace::ChunkReport& chunk) const {
    trace::Event common;
    common.cpu = chunk.description.cpu;
    common.chunk = chunk.description.chunk;
    common.generation = chunk.description.generation;
    common.source = static_cast<std::uint32_t>(m_scope.index());
    common.names = &m_names;
    common.image = m_image;
    return common;
}

// It stays in the batch from one call to the next.
void ChunkCursor::prepare_batch(const trace::ChunkReport& chunk) {
    const tracer::ChunkBegin& header = chunk.description;
    if (m_prepared != 0 && (m_batch.front().source != m_scope.index() || m_batch.front().cpu != header.cpu ||
                            m_batch.front().chunk != header.chunk || m_batch.front().generation != header.generation ||
                            m_batch.front().image != m_image)) {
        m_prepared = 0;
    }
    if (m_prepared < m_batch_size) {
        m_batch.resize(std::max(m_batch.size(), m_batch_size));
        std::fill(m_batch.begin() + static_cast<std::ptrdiff_t>(m_prepared),
                  m_batch.begin() + static_cast<std::ptrdiff_t>(m_batch_size), common_of(chunk));
        m_prepared = m_batch_size;
    }
}

// So many of the buffered records, the last of which has this stamp.
void ChunkCursor::take_plain(std::size_t records, std::uint64_t last) {
    trace::ChunkReport& chunk = m_scope.chunk();
    m_greatest = last;
    chunk.last_stamp->value = last;
    chunk.records += records;
    chunk.events += records;
    m_scope.facts().usable_events += records;
    m_feed.skip(records);
}

std::span<trace::Event> ChunkCursor::next_plain(std::uint64_t key, std::uint64_t limit) {
    const std::span<const std::byte> slots = m_feed.buffered();
    if (!m_plain_may_follow || key >= limit || slots.empty()) {
        return {};
    }
    prepare_batch(m_scope.chunk());
    trace::Event* const first = m_batch.data();
    const trace::Event* const end = first + std::min(m_batch_size, slots.size() / tracer::kRecordBytes);
    const std::byte* slot = slots.data();
    std::uint64_t index = m_feed.slots_taken();
    std::uint64_t offset_bytes = m_feed.offset_bytes();
    std::uint64_t last = m_greatest;
    trace::Event* event = first;
    for (; event != end; ++event) {
        const tracer::Record record = load_record(slot);
        const tracer::EventRow* const row = plain_row(record.code);
        const std::uint64_t stamp = load_stamp(slot);
        if (row == nullptr || stamp - last > kStrayTicks || stamp >= limit) { // a fall is the farthest rise
            break;
        }
        last = stamp;
        event->ticks = {stamp};
        event->record = index++;
        event->offset_bytes = offset_bytes;
        event->row = row;
        event->raw_code = record.code;
        event->code = static_cast<std::uint8_t>(record.code); // a plain one is canonical
        event->par1 = record.par1;
        event->par2 = record.par2;
        slot += tracer::kRecordBytes;
        offset_bytes += tracer::kRecordBytes;
    }
    const auto count = static_cast<std::size_t>(event - first);
    if (count != 0) {
        take_plain(count, last);
    }
    if (count == m_batch_size) {
        m_batch_size = std::min(2 * m_batch_size, kBatch);
    }
    return std::span(m_batch).first(count);
}

// No record that is still to come in this chunk needs more than what next_plain() looks at. Only next() changes any of
// this.
bool ChunkCursor::plain_records_may_follow() const {
    const trace::ChunkReport& chunk = m_scope.chunk();
    const bool in_preamble = chunk.described && m_feed.slots_taken() < chunk.description.preamble_slots;
    return !m_held && !m_ledger.is_skipped() && !in_preamble && !chunk.compact() && m_assembler.is_idle() &&
           chunk.last_stamp;
}

} // namespace host::formats::dat
