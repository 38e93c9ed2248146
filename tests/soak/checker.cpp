// SPDX-License-Identifier: MIT
#include "tests/soak/checker.hpp"

#include "tracer/record_path_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace soak {

namespace {

using tracer::Combine;
using tracer::Record;

bool is_blackout(const Record& record) {
    return record.code == TRACER_EVENT_BLACKOUT_START || record.code == TRACER_EVENT_BLACKOUT_END;
}

} // namespace

void Checker::object(const char* what, const Record& record) {
    if (m_fault.empty()) {
        m_fault = fmt::format("{}: slot {} is code {:#06x} par1 {:#06x} par2 {} stamp {}", what, m_read, record.code,
                              record.par1, record.par2, record.stamp().value);
    }
}

void Checker::read(std::span<const std::byte> bytes) {
    for (; bytes.size() >= tracer::kRecordBytes; bytes = bytes.subspan(tracer::kRecordBytes)) {
        const Record record = tracer::decode_record(bytes);
        ++m_read;
        if (record.stamp() < m_last_stamp) {
            object("a stamp falls", record);
        }
        if (m_slot != 0) {
            go_on(record);
        } else if (is_blackout(record)) {
            ++m_tracer_made;
            m_told += record.code == TRACER_EVENT_BLACKOUT_END ? record.par2 : 0;
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
            object("a stranger in an emergency area", record);
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

// A further slot of a long event.
void Checker::go_on(const Record& record) {
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
