// SPDX-License-Identifier: MIT
#include "tracer/chunk/control.hpp"

#include "tracer/log.hpp"
#include "tracer/record/event_table.hpp"

namespace tracer {

lib::Result<void> Control::enable() {
    if (enabled()) {
        return {};
    }
    if (m_cpu.selected == nullptr) {
        return lib::Error::refused;
    }
    ASSERT(read_shared(m_cpu.active) == &null_chunk && m_cpu.mask == 0);
    write_shared(m_cpu.active, m_cpu.selected);
    m_cpu.selected = nullptr;
    write_shared(m_cpu.mask, (0xFFFF & ~m_cpu.filter) | kUnfilteredMask);
    return {};
}

void Control::disable() {
    write_shared(m_cpu.mask, std::uint32_t{0});
    ChunkControl* const left = exchange_shared(m_cpu.active, &null_chunk);
    if (left != &null_chunk) {
        settle(*left);
        m_cpu.selected = left;
    }
}

lib::Result<void> Control::select(Chunk& chunk) {
    if (chunk.written_as && m_cpu.trigger.action != TriggerAction::none) {
        return lib::Error::unsupported; // the trigger could not watch it
    }
    if (const auto started = m_store.start(chunk); !started) {
        return started;
    }
    ChunkControl& entered = chunk.control;
    if (!enabled()) {
        const ChunkControl& left = m_cpu.selected != nullptr ? *m_cpu.selected : null_chunk;
        hand_over_trigger(left, entered);
        hand_over_blackout(left, entered);
        m_cpu.selected = &entered;
        return {};
    }
    detail::switch_to(entered);
    return {};
}

lib::Result<void> Control::close_active() {
    ChunkControl* const active = read_shared(m_cpu.active);
    if (active == &null_chunk || read_shared(active->next) == nullptr) {
        add_shared(m_cpu.refused_bytes, kRecordBytes);
        return lib::Error::refused;
    }
    // If an interrupt has already moved on to the next chunk, the request is fulfilled; closing a full chunk then
    // changes nothing.
    set_shared_bits(active->word, TRACER_WORD_CLOSED);
    return {};
}

lib::Result<void> Control::set_filter(std::uint8_t filter_code, bool suppress) {
    const EventRow* const row = find_event(filter_code);
    if (row == nullptr || (filter_code & 0xF0) != 0xF0 || row->shape != Shape::simple) {
        return lib::Error::invalid_argument;
    }
    const std::uint32_t bit = 1U << (filter_code & 0x0F);
    m_cpu.filter = suppress ? m_cpu.filter | bit : m_cpu.filter & ~bit;
    if (enabled()) {
        write_shared(m_cpu.mask, (0xFFFF & ~m_cpu.filter) | kUnfilteredMask);
    }
    return {};
}

Totals Control::totals() const {
    ChunkCounts sum = m_store.retired();
    for (const Chunk& chunk : m_store.slots()) {
        if (chunk.exists) {
            const ChunkCounts counted = ChunkStore::counts(chunk);
            sum.written += counted.written;
            sum.tracer_made += counted.tracer_made;
            sum.overwritten += counted.overwritten;
        }
    }
    return {.committed = sum.written - sum.tracer_made,
            .dropped = read_shared(m_cpu.dropped_bytes) / kRecordBytes,
            .refused = read_shared(m_cpu.refused_bytes) / kRecordBytes,
            .tracer_made = sum.tracer_made,
            .overwritten = sum.overwritten};
}

// If the writer was suspended between its blackout_end and the update of the counts, the update of the chunk that is
// left is still pending; no other context will complete it.
void Control::settle(ChunkControl& left) {
    if ((read_shared(left.word) & TRACER_WORD_REPORTED) != 0) {
        m_cpu.reported_bytes = left.pending_reported;
        left.ends = left.pending_ends;
        clear_shared_bits(left.emergency_word, std::uint64_t{1} << 63); // the blackout is over
        clear_shared_bits(left.word, TRACER_WORD_REPORTED);
    }
}

// Follows the rule of the record path's jump, while recording is disabled.
void Control::hand_over_blackout(const ChunkControl& left, ChunkControl& entered) {
    const bool open = (read_shared(left.emergency_word) >> 63) != 0;
    const bool unresumed = (read_shared(left.word) & TRACER_WORD_RESUME) != 0;
    if (open || unresumed || m_cpu.dropped_bytes != m_cpu.reported_bytes) {
        set_shared_bits(entered.word, TRACER_WORD_RESUME);
    }
}

} // namespace tracer
