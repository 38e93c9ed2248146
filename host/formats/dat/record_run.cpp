// SPDX-License-Identifier: MIT
#include "host/formats/dat/record_run.hpp"

#include "host/formats/dat/plain_record.hpp"
#include "lib/assert.hpp"

namespace host::formats::dat {

lib::Ticks RecordRun::last_stamp() const {
    return {load_stamp(m_slots.data() + m_slots.size() - tracer::kRecordBytes)};
}

trace::Event RecordRun::common() const {
    trace::Event event = m_common;
    event.names = &m_names;
    event.timed = m_scale.has_value();
    return event;
}

void RecordRun::decode(std::size_t first, std::span<trace::Event> events) const {
    ASSERT(first + events.size() <= size());
    const std::byte* slot = m_slots.data() + first * tracer::kRecordBytes;
    for (std::size_t i = first; trace::Event & event : events) {
        const tracer::Record record = load_record(slot);
        event.ticks = record.stamp();
        event.record = m_common.record + i;
        event.offset_bytes = m_common.offset_bytes + i * tracer::kRecordBytes;
        event.row = plain_row(record.code);
        event.raw_code = record.code;
        event.code = record.event_code(); // a plain record has the code of its row
        event.par1 = record.par1;
        event.par2 = record.par2;
        if (m_scale) {
            event.time_ns = static_cast<std::int64_t>(m_scale->to_nanoseconds(event.ticks.value - m_start.value));
        }
        slot += tracer::kRecordBytes;
        ++i;
    }
}

} // namespace host::formats::dat
