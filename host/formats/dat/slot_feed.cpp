// SPDX-License-Identifier: MIT
#include "host/formats/dat/slot_feed.hpp"

#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::dat {

namespace {

std::vector<Stretch> stretches_of(const Segment& segment) {
    if (segment.oldest_bytes != 0) {
        return {{.begin_bytes = segment.oldest_bytes, .end_bytes = segment.end_bytes},
                {.begin_bytes = segment.begin_bytes, .end_bytes = segment.oldest_bytes}};
    }
    return segment.stretches.empty()
               ? std::vector<Stretch>{{.begin_bytes = segment.begin_bytes, .end_bytes = segment.end_bytes}}
               : segment.stretches;
}

} // namespace

SlotFeed::SlotFeed(ChunkScope& scope, std::shared_ptr<trace::ByteSource> source, SlotBuffer memory)
    : m_scope(scope)
    , m_source{std::move(source), scope.segment().path, scope.segment().buffer_bytes}
    , m_stretches(stretches_of(scope.segment()))
    , m_reader(m_source, m_stretches.front().begin_bytes, m_stretches.front().end_bytes, std::move(memory)) {
    ASSERT(scope.segment().begin_bytes <= m_stretches.front().begin_bytes);
    ASSERT(m_stretches.front().begin_bytes <= scope.segment().end_bytes);
    if (scope.segment().oldest_bytes != 0) {
        m_scope.report("W-ROTATED", scope.segment().oldest_bytes,
                       "time falls here and nowhere else: a cyclic chunk in memory order, read from its oldest record "
                       "on");
    }
}

void SlotFeed::report_tail() {
    if (m_reader.tail_bytes() != 0) {
        m_scope.report("W-TAIL", m_reader.offset_bytes(),
                       fmt::format("{} trailing bytes after the last record", m_reader.tail_bytes()));
    }
}

bool SlotFeed::next(Slot& slot, bool is_skipped) {
    if (m_scope.chunk().compact() && !is_skipped && next_compact(slot)) {
        return true;
    }
    slot.compact = false;
    while (!m_reader.next(slot.record)) {
        if (!begin_next_stretch()) {
            return false;
        }
    }
    slot.offset_bytes = m_reader.offset_bytes() - tracer::kRecordBytes;
    ASSERT(slot.offset_bytes >= m_scope.segment().begin_bytes);
    slot.index = m_next_index++;
    return true;
}

void SlotFeed::restart(Slot& slot) {
    m_compact.reset();
    slot.index = 0;
    m_next_index = 1;
}

bool SlotFeed::begin_next_stretch() {
    if (m_reader.failed() || m_stretch + 1 == m_stretches.size()) {
        return false;
    }
    const Stretch& next = m_stretches[++m_stretch];
    if (next.place_bytes) {
        m_scope.report("W-TAIL", *next.place_bytes,
                       fmt::format("bytes were lost or added here: {} bytes are left out, and the records from 0x{:x} "
                                   "on are read; copy or receive the file again",
                                   next.begin_bytes - *next.place_bytes, next.begin_bytes));
    } else {
        report_tail();
    }
    m_reader = SlotReader(m_source, next.begin_bytes, next.end_bytes, m_reader.take_memory());
    m_next_index = std::max(m_next_index, next.index);
    return true;
}

// The bytes of the chunk are as many as it announces, and not those of the machine: they may be off their places all
// the same, if as many were lost at one place as were added at another. Its header is read.
void SlotFeed::realign(trace::ByteSource& source) {
    const Segment& segment = m_scope.segment();
    const tracer::ChunkBegin& header = m_scope.chunk().description;
    std::vector<Stretch> stretches = find_stretches(source, segment.begin_bytes, segment.end_bytes,
                                                    Announced{header.preamble_slots, header.records});
    if (!stretches.empty() && !m_scope.chunk().compact()) {
        const std::uint64_t here = m_reader.offset_bytes();
        m_stretches = stretches;
        m_scope.set_stretches(std::move(stretches));
        m_reader = SlotReader(m_source, here, std::max(here, m_stretches.front().end_bytes));
    }
}

// The stream follows the preamble. False before and after it.
bool SlotFeed::next_compact(Slot& slot) {
    trace::ChunkReport& chunk = m_scope.chunk();
    if (m_compact == nullptr) {
        if (m_next_index != chunk.description.preamble_slots) {
            return false;
        }
        m_compact = std::make_unique<CompactSlots>(chunk.description.compact_bytes);
        if (!begin_compact(m_reader.offset_bytes())) {
            m_compact->skip(m_reader);
            chunk.records += m_compact->take_slots_read();
            return false;
        }
    }
    const bool has_record = m_compact->next(m_reader, slot.record, slot.offset_bytes);
    chunk.records += m_compact->take_slots_read();
    if (has_record) {
        slot.compact = true;
        slot.index = m_next_index++;
        return true;
    }
    if (m_compact->fault() != tracer::compact::Fault::none && !m_compact->already_reported()) {
        report_fault();
    }
    return false;
}

void SlotFeed::report_fault() {
    trace::ChunkReport& chunk = m_scope.chunk();
    const std::uint64_t emergency =
        chunk.description.records - std::min(std::uint64_t{chunk.description.records}, m_compact->slots());
    const std::uint64_t lost = chunk.description.events - std::min(chunk.description.events, chunk.events + emergency);
    m_scope.report("E-COMPACT", m_compact->fault_offset_bytes(),
                   fmt::format("{}; {} records of the chunk are lost", fault_text(m_compact->fault()), lost));
    chunk.skipped += std::max<std::uint64_t>(lost, 1);
}

// Checks the checksum of the stream before any of its records is used; of a pipe that is not possible. False: it is
// wrong, and the stream is to be left out.
bool SlotFeed::begin_compact(std::uint64_t offset_bytes) {
    trace::ChunkReport& chunk = m_scope.chunk();
    const auto source = m_source.bytes != nullptr ? m_source.bytes : source_of(m_scope.segment());
    if (!is_seekable() || source == nullptr ||
        compact_checksum_holds(*source, offset_bytes, chunk.description.compact_bytes)) {
        return true;
    }
    m_scope.report("W-BCRC", offset_bytes,
                   m_scope.salvages() ? "the checksum of the compact stream is wrong: decoded all the same"
                                      : "the checksum of the compact stream is wrong: skipped");
    if (!m_scope.salvages()) {
        ASSERT(chunk.description.records >= m_compact->slots()); // the header was checked
        const std::uint64_t emergency = chunk.description.records - m_compact->slots();
        chunk.skipped +=
            std::max<std::uint64_t>(chunk.description.events - std::min(chunk.description.events, emergency), 1);
        static_cast<void>(m_compact->already_reported());
    }
    return m_scope.salvages();
}

std::optional<tracer::Record> SlotFeed::look_ahead(std::uint8_t code) const {
    if (!is_seekable()) {
        return std::nullopt;
    }
    SlotReader reader(m_source, m_reader.offset_bytes(), m_stretches[m_stretch].end_bytes);
    for (tracer::Record record; reader.next(record);) {
        if (record.event_code() == code) {
            return record;
        }
    }
    return std::nullopt;
}

void SlotFeed::check_sum(const ChunkSum& sum, std::uint32_t stated, std::uint64_t size_bytes) {
    const Segment& segment = m_scope.segment();
    const std::uint64_t begin = m_reader.offset_bytes();
    if (!is_seekable()) {
        m_reader.begin_sum(sum, begin + size_bytes);
        m_stated_sum = stated;
        return;
    }
    // A chunk that is not all there says so by its counts.
    const bool is_all_there =
        segment.stretches.empty() && begin <= segment.end_bytes && segment.end_bytes - begin >= size_bytes;
    const auto source = m_source.bytes != nullptr ? m_source.bytes : source_of(segment);
    if (!is_all_there || source == nullptr) {
        return;
    }
    // Empty slots explain a wrong checksum only where a receiver says that it has lost them, and nothing else changed.
    const ChunkBytes bytes = check_bytes(*source, begin, size_bytes, sum, stated, m_reader.buffered());
    if (bytes == ChunkBytes::damaged || (bytes == ChunkBytes::holed && !segment.holes_listed)) {
        report_sum();
        realign(*source);
    }
}

void SlotFeed::finish_sum() {
    const auto sum = m_reader.end_sum();
    if (sum && *sum != m_stated_sum) {
        report_sum();
    }
}

void SlotFeed::report_sum() {
    m_scope.chunk().damaged = true;
    m_scope.report("W-CRC", m_scope.chunk().begin_bytes,
                   "the checksum of the chunk is wrong: its records are read, and nothing is concluded from them");
}

void SlotFeed::report_end() {
    if (m_reader.failed() || m_reader.shrunk()) {
        m_scope.report("E-IO", m_reader.offset_bytes(),
                       m_reader.failed() ? "reading failed" : "the file became shorter");
    }
    report_tail();
}

} // namespace host::formats::dat
