// SPDX-License-Identifier: MIT
#include "host/trace/compact_slots.hpp"

namespace host::trace {

namespace {

constexpr std::size_t kWindowBytes = 4 * tracer::compact::Decoder::kLookaheadBytes;

} // namespace

bool CompactSlots::take_slot(SlotReader& reader) {
    tracer::Record piece;
    if (m_slots_left == 0 || !reader.next(piece)) {
        return false;
    }
    --m_slots_left;
    ++m_slots_read;
    m_window.resize(m_window.size() + tracer::kRecordBytes);
    tracer::encode_record(piece, std::span(m_window).last(tracer::kRecordBytes));
    return true;
}

bool CompactSlots::next(SlotReader& reader, tracer::Record& record, std::uint64_t& offset_bytes) {
    using Step = tracer::compact::Decoder::Step;
    if (!std::exchange(m_begun, true)) {
        m_file_offset = reader.offset_bytes();
    }
    while (m_next_record == m_decoder.records().size()) {
        const std::size_t used = m_decoder.offset() - m_window_begin;
        if (m_window.size() - used < tracer::compact::Decoder::kLookaheadBytes && m_slots_left != 0) {
            m_window.erase(m_window.begin(), m_window.begin() + static_cast<std::ptrdiff_t>(used));
            m_window_begin = m_decoder.offset();
            while (m_window.size() < kWindowBytes && take_slot(reader)) {
            }
        }
        const std::size_t at = m_decoder.offset() - m_window_begin;
        m_event_offset = m_decoder.offset();
        m_next_record = 0;
        if (m_decoder.next(std::span<const std::byte>(m_window).subspan(at)) != Step::records) {
            do {
                m_window.clear(); // what is left of the stream is of no use
            } while (take_slot(reader));
            m_window_begin = m_decoder.offset();
            return false;
        }
    }
    record = m_decoder.records()[m_next_record++];
    offset_bytes = m_file_offset + m_event_offset;
    return true;
}

} // namespace host::trace
