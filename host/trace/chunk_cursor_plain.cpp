// SPDX-License-Identifier: MIT
// The short way: plain records in a row, many at once, straight from the buffer.
#include "host/trace/chunk_cursor.hpp"
#include "host/trace/plain_record.hpp"

#include <algorithm>
#include <span>

namespace host::trace {

// What all plain records of a chunk have in common stays in the batch from one call to the next.
void ChunkCursor::prepare_batch(const ChunkReport& mine) {
    const tracer::ChunkBegin& told = mine.description;
    if (!m_batch.empty() && m_batch.front().source == m_report && m_batch.front().cpu == told.cpu &&
        m_batch.front().chunk == told.chunk && m_batch.front().generation == told.generation &&
        m_batch.front().image == m_image) {
        return;
    }
    Event common;
    common.cpu = told.cpu;
    common.chunk = told.chunk;
    common.generation = told.generation;
    common.source = static_cast<std::uint32_t>(m_report);
    common.names = &m_names;
    common.image = m_image;
    m_batch.assign(kBatch, common);
}

std::span<Event> ChunkCursor::next_plain(std::uint64_t key, std::uint64_t limit) {
    if (!m_lane_open || key >= limit || m_reader.buffered() == nullptr) {
        return {};
    }
    ChunkReport& mine = chunk();
    prepare_batch(mine);
    const std::byte* const slots = m_reader.buffered();
    const std::size_t most = std::min(kBatch, m_reader.buffered_slots());
    std::uint64_t last = m_greatest;
    std::size_t count = 0;
    for (; count < most; ++count) {
        const std::size_t offset_bytes = count * tracer::kRecordBytes;
        const tracer::Record record = load_record(slots + offset_bytes);
        const tracer::EventRow* const row = plain_row(record.code);
        const std::uint64_t stamp = record.stamp().value;
        if (row == nullptr || stamp < last || stamp >= limit) {
            break;
        }
        last = stamp;
        Event& event = m_batch[count];
        event.ticks = {stamp};
        event.record = m_next_index + count;
        event.offset_bytes = m_reader.offset_bytes() + offset_bytes;
        event.row = row;
        event.raw_code = record.code;
        event.code = row->code;
        event.par1 = record.par1;
        event.par2 = record.par2;
    }
    if (count != 0) {
        m_greatest = last;
        mine.last_stamp->value = last;
    }
    mine.records += count;
    mine.events += count;
    m_facts.usable_events += count;
    m_next_index += count;
    m_reader.skip(count);
    return std::span(m_batch).first(count);
}

// No record that is still to come in this chunk needs more than what next_plain() looks at. Only next() changes any of
// this.
bool ChunkCursor::plain_records_may_follow() const {
    const ChunkReport& mine = m_facts.chunks[m_report];
    const bool in_preamble = mine.described && m_next_index < mine.description.preamble_slots;
    return !m_held && !m_skip_chunk && !in_preamble && !mine.compact() && m_assembler.is_idle() && mine.last_stamp;
}

} // namespace host::trace
