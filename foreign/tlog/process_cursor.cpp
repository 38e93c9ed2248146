// SPDX-License-Identifier: MIT
#include "foreign/tlog/process_cursor.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::tlog {

ProcessCursor::ProcessCursor(std::shared_ptr<trace::ByteSource> source, std::span<const Run> runs, Layout layout,
                             std::size_t buffer_bytes)
    : m_source(std::move(source))
    , m_runs(runs)
    , m_layout(layout)
    , m_buffer_bytes(buffer_bytes / kRecordBytes * kRecordBytes)
    , m_buffer_offset(runs.empty() ? 0 : runs.front().begin_bytes) {}

bool ProcessCursor::next(Slot& slot) {
    while (m_position < m_filled || refill()) {
        slot.offset_bytes = m_buffer_offset + m_position;
        slot.record = decode(std::span(m_buffer).subspan(m_position, kRecordBytes), m_layout);
        m_position += kRecordBytes;
        if (!slot.record.undefined()) {
            return true;
        }
    }
    return false;
}

bool ProcessCursor::refill() {
    m_buffer_offset += m_filled;
    m_position = 0;
    m_filled = 0;
    while (!m_runs.empty() && m_buffer_offset >= m_runs.front().end_bytes) {
        m_runs = m_runs.subspan(1);
        m_buffer_offset = m_runs.empty() ? m_buffer_offset : m_runs.front().begin_bytes;
    }
    if (m_runs.empty() || m_failed) {
        return false;
    }
    m_buffer.resize(m_buffer_bytes);
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(m_runs.front().end_bytes - m_buffer_offset, m_buffer.size()));
    const auto count = m_source->read(m_buffer_offset, std::span(m_buffer).first(wanted));
    m_failed = !count || count.value() < wanted;
    m_filled = m_failed ? 0 : wanted;
    return !m_failed;
}

} // namespace host::formats::tlog
