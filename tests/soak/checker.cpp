// SPDX-License-Identifier: MIT
#include "tests/soak/checker.hpp"

#include "tracer/record/record_path_layout.h"

#include <algorithm>

namespace soak {

namespace {

using tracer::Combine;
using tracer::Record;

constexpr std::uint16_t kInterruptStart = tracer::event_code("interrupt_start");
constexpr std::uint16_t kInterruptEnd = tracer::event_code("interrupt_end");

bool is_blackout(const Record& record) {
    return record.code == TRACER_EVENT_BLACKOUT_START || record.code == TRACER_EVENT_BLACKOUT_END;
}

} // namespace

void Checker::object(std::string_view what, const Record& record) {
    if (m_fault.empty()) {
        m_fault = what;
        m_faulty = record;
        m_faulty_number = m_read;
    }
}

void Checker::read(std::span<const std::byte> bytes) {
    for (; bytes.size() >= tracer::kRecordBytes; bytes = bytes.subspan(tracer::kRecordBytes)) {
        const Record record = tracer::decode_record(bytes);
        ++m_read;
        if (record.stamp() < m_last_stamp) {
            object("a stamp decreases", record);
        }
        if (m_slot != 0) {
            check_continuation(record);
        } else if (is_blackout(record)) {
            ++m_tracer_made;
            m_reported += record.code == TRACER_EVENT_BLACKOUT_END ? record.par2 : 0;
        } else if (record.code == kInterruptStart || record.code == kInterruptEnd) {
            interrupt(record);
        } else {
            begin(record);
        }
        m_last_stamp = record.stamp();
    }
    if (m_slot != 0) {
        object("a long event is cut off", {});
        m_slot = 0;
    }
}

void Checker::read_emergency(std::span<const std::byte> bytes) {
    for (; bytes.size() >= tracer::kRecordBytes; bytes = bytes.subspan(tracer::kRecordBytes)) {
        const Record record = tracer::decode_record(bytes);
        ++m_tracer_made;
        if (record.code != TRACER_EVENT_BLACKOUT_START) {
            object("an unexpected record in an emergency area", record);
        }
    }
}

// The first slot of an event of one of the sources.
void Checker::begin(const Record& record) {
    m_source = static_cast<std::size_t>(std::ranges::find(kCodes, record.event_code()) - kCodes.begin());
    if (m_source == kSources || record.par1 != checksum(m_source, record.par2, 0)) {
        object("a torn record", record);
        return;
    }
    if (m_source == 0) {
        if (m_depth != 0 && m_depth_known) {
            object("the program runs during an interrupt", record);
        }
        m_depth = 0;
        m_depth_known = true;
    }
    m_serial = record.par2;
    m_count = slots_of(m_source, m_serial);
    if (record.combine() != (m_count == 1 ? Combine::simple : Combine::first)) {
        object("a torn record", record);
    }
    Seen& seen = m_seen[m_source];
    if (seen.any && m_serial != seen.next) {
        ++m_gaps;
        if (static_cast<std::int32_t>(m_serial - seen.next) < 0) {
            object("a record is doubled or out of order", record);
        }
    }
    seen = {.any = true, .next = m_serial + 1};
    ++m_slots;
    m_slot = m_count == 1 ? 0 : 1;
}

// The last interrupt to start ends first.
void Checker::interrupt(const Record& record) {
    ++m_interrupt_records;
    if (record.code == kInterruptStart) {
        if (m_depth == m_vectors.size()) {
            object("too many interrupts at a time", record);
            return;
        }
        m_vectors[m_depth++] = record.par1;
    } else if (m_depth != 0) {
        --m_depth;
        if (m_vectors[m_depth] != record.par1) {
            object("another interrupt ends than the last that started", record);
        }
    } else if (m_depth_known) {
        object("an interrupt ends that did not start", record);
    }
}

// A further slot of a long event.
void Checker::check_continuation(const Record& record) {
    const Combine expected = m_slot + 1 == m_count ? Combine::last : Combine::middle;
    if (record.event_code() != kCodes[m_source] || record.combine() != expected || record.par2 != m_serial ||
        record.par1 != checksum(m_source, m_serial, m_slot) || record.stamp() != m_last_stamp) {
        object("a torn long event", record);
        m_slot = 0;
        return;
    }
    ++m_slots;
    m_slot = m_slot + 1 == m_count ? 0 : m_slot + 1;
}

} // namespace soak
