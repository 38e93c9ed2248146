// SPDX-License-Identifier: MIT
// The slot-by-slot decoder. Every branch that gives something up reports it. What metadata means stands in
// chunk_cursor_metadata.cpp, the short way for plain records in chunk_cursor_plain.cpp.
#include "host/trace/chunk_cursor.hpp"

#include "host/trace/user_event.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace host::trace {

std::optional<tracer::Record> ChunkCursor::look_ahead(std::uint8_t code) const {
    if (!m_source->seekable() || m_report >= m_facts.chunks.size() || m_facts.chunks[m_report].compact()) {
        return std::nullopt;
    }
    SlotReader reader(m_source, m_reader.offset_bytes(), m_segment.end_bytes);
    for (tracer::Record record; reader.next(record);) {
        if (record.event_code() == code) {
            return record;
        }
    }
    return std::nullopt;
}

namespace {

constexpr auto kRowOfCode = [] {
    std::array<const tracer::EventRow*, 256> rows{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        rows[row.code] = &row;
    }
    return rows;
}();

bool is_metadata_family(std::uint8_t code) {
    return static_cast<tracer::Family>(code & 0x0F) == tracer::Family::metadata;
}

bool is_erased(const tracer::Record& record) {
    return record.code == 0xFFFF && record.par1 == 0xFFFF && record.par2 == 0xFFFF'FFFF &&
           record.stamp().value == ~std::uint64_t{0};
}

std::uint64_t first_byte(const Segment& segment) {
    return segment.oldest_bytes != 0 ? segment.oldest_bytes : segment.begin_bytes;
}

} // namespace

ChunkCursor::ChunkCursor(const Segment& segment, std::shared_ptr<ByteSource> source, TraceFacts& facts,
                         Diagnostics& diagnostics, Condemned condemned)
    : m_segment(segment)
    , m_source(std::move(source))
    , m_facts(facts)
    , m_diagnostics(diagnostics)
    , m_reader(m_source, first_byte(segment), segment.end_bytes)
    , m_reading_oldest(segment.oldest_bytes != 0)
    , m_condemned(condemned) {
    begin_chunk(segment.begin_bytes);
    if (m_reading_oldest) {
        report(Code::rotated, segment.oldest_bytes,
               "time falls here and nowhere else: a cyclic chunk in memory order, read from its oldest record on");
    }
}

void ChunkCursor::begin_chunk(std::uint64_t offset_bytes) {
    m_report = m_facts.chunks.size();
    m_facts.chunks.push_back(
        {.file = m_segment.path, .begin_bytes = offset_bytes, .order = m_segment.order + m_chunks++});
    m_names = m_facts.names;
    m_next_index = 0;
    m_compact.reset();
    m_skip_chunk = false;
    m_distrust_count = false;
    m_latest = std::max(m_latest, m_greatest);
    m_greatest = 0;
    m_erased = 0;
}

void ChunkCursor::report(Code code, std::uint64_t offset_bytes, std::string_view text) {
    Place place{.file = m_segment.path, .offset_bytes = offset_bytes};
    if (chunk().described) {
        place.chunk = chunk().description.chunk;
        place.cpu = chunk().description.cpu;
    }
    m_diagnostics.report(code, place, text);
}

bool ChunkCursor::read_slot(Slot& slot) {
    if (m_held) {
        slot = *m_held;
        m_held.reset();
        return true;
    }
    if (chunk().compact() && !m_skip_chunk && read_compact_slot(slot)) {
        return true;
    }
    slot.compact = false;
    slot.offset_bytes = m_reader.offset_bytes();
    if (!m_reader.next(slot.record)) {
        if (!m_reading_oldest) {
            return false;
        }
        if (m_reader.tail_bytes() != 0) {
            report(Code::tail, m_reader.offset_bytes(),
                   fmt::format("{} odd bytes behind the last record", m_reader.tail_bytes()));
        }
        m_reading_oldest = false;
        m_reader = SlotReader(m_source, m_segment.begin_bytes, m_segment.oldest_bytes);
        slot.offset_bytes = m_reader.offset_bytes();
        if (!m_reader.next(slot.record)) {
            return false;
        }
    }
    slot.offset_bytes = m_reader.offset_bytes() - tracer::kRecordBytes;
    if (begins_next_chunk(slot.record)) {
        finish_chunk();
        begin_chunk(slot.offset_bytes);
    }
    slot.index = m_next_index++;
    return true;
}

// The stream follows the preamble. False before and behind it.
bool ChunkCursor::read_compact_slot(Slot& slot) {
    ChunkReport& mine = chunk();
    if (m_compact == nullptr) {
        if (m_next_index != mine.description.preamble_slots) {
            return false;
        }
        m_compact = std::make_unique<CompactSlots>(mine.description.compact_bytes);
        if (!begin_compact(m_reader.offset_bytes())) {
            m_compact->skip(m_reader);
            mine.records += m_compact->take_slots_read();
            return false;
        }
    }
    const bool has_record = m_compact->next(m_reader, slot.record, slot.offset_bytes);
    mine.records += m_compact->take_slots_read();
    if (has_record) {
        slot.compact = true;
        slot.index = m_next_index++;
        return true;
    }
    if (m_compact->fault() != tracer::compact::Fault::none && !m_compact->told()) {
        const std::uint64_t emergency =
            mine.description.records - std::min(std::uint64_t{mine.description.records}, m_compact->slots());
        const std::uint64_t lost = mine.description.events - std::min(mine.description.events, mine.events + emergency);
        report(Code::compact, m_compact->fault_offset_bytes(),
               fmt::format("{}; {} records of the chunk are lost", fault_text(m_compact->fault()), lost));
        mine.skipped += std::max<std::uint64_t>(lost, 1);
    }
    return false;
}

bool ChunkCursor::begins_next_chunk(const tracer::Record& record) const {
    return m_next_index != 0 && record.event_code() == kCodeOf<"chunk_begin"> &&
           record.combine() == tracer::Combine::first && !m_assembler.is_open();
}

void ChunkCursor::count(const Slot& slot) {
    ChunkReport& mine = chunk();
    if (slot.index < mine.description.preamble_slots && mine.described) {
        ++mine.preamble;
    } else if (slot.compact) {
        ++mine.events;
    } else if (!is_metadata_family(slot.record.event_code())) {
        ++mine.records;
        ++mine.events;
    }
}

bool ChunkCursor::next(Event& event) {
    m_lane_open = false;
    const bool taken = next_slowly(event);
    m_lane_open = taken && plain_records_may_follow();
    return taken;
}

bool ChunkCursor::next_slowly(Event& event) {
    using Outcome = CombinedAssembler::Outcome;
    Slot slot;
    while (read_slot(slot)) {
        if (m_skip_chunk) {
            ++chunk().skipped;
            continue;
        }
        if (slot.index < 2 && !slot.compact) {
            look_at_beginning(slot);
            if (m_skip_chunk) {
                ++chunk().skipped;
                continue;
            }
        }
        if (is_erased(slot.record) && m_assembler.is_idle()) {
            if (m_erased++ == 0) {
                m_erased_bytes = slot.offset_bytes;
            }
            ++chunk().records;
            ++chunk().skipped;
            continue;
        }
        switch (m_assembler.feed(slot.record)) {
        case Outcome::simple:
            count(slot);
            if (simple(slot, event)) {
                return true;
            }
            break;
        case Outcome::open:
            if (slot.record.combine() == tracer::Combine::first) {
                m_first = slot;
            }
            count(slot);
            break;
        case Outcome::complete:
            count(slot);
            if (complete(m_assembler.payload(), event)) {
                return true;
            }
            break;
        case Outcome::broken:
            report(Code::incomplete, m_first.offset_bytes, "a long event is cut off by another one");
            m_held = slot;
            fill(m_first, EventState::incomplete, event);
            lose_header();
            return true;
        case Outcome::orphan:
            count(slot);
            ++chunk().skipped;
            if (chunk().description.overwritten == 0) {
                report(Code::orphan, slot.offset_bytes, "a later slot of a long event whose first slot is missing");
            }
            fill(slot, EventState::orphan, event);
            return true;
        case Outcome::mixed:
            count(slot);
            ++chunk().skipped;
            report(Code::mixed, slot.offset_bytes, "a slot of another long event lies inside this one: both given up");
            fill(slot, EventState::malformed, event);
            lose_header();
            return true;
        case Outcome::too_long:
            count(slot);
            report(Code::too_long, m_first.offset_bytes,
                   fmt::format("a long event of more than {} slots", tracer::kCombineSlotsMax));
            fill(m_first, EventState::malformed, event);
            return true;
        case Outcome::skipping:
            count(slot);
            ++chunk().skipped;
            break;
        }
    }
    if (m_assembler.is_open()) {
        m_assembler.reset();
        report(Code::incomplete, m_first.offset_bytes, "a long event is cut off by the end");
        fill(m_first, EventState::incomplete, event);
        return true;
    }
    finish();
    return false;
}

void ChunkCursor::fill(const Slot& slot, EventState state, Event& event) {
    const tracer::Record& record = slot.record;
    const ChunkReport& mine = chunk();
    event = Event{};
    event.ticks = record.stamp();
    event.cpu = mine.description.cpu;
    event.chunk = mine.description.chunk;
    event.generation = mine.description.generation;
    event.source = static_cast<std::uint32_t>(m_report);
    event.record = slot.index;
    event.offset_bytes = slot.offset_bytes;
    event.raw_code = record.code;
    event.code = tracer::canonical_code(record.event_code());
    event.row = kRowOfCode[event.code];
    event.par1 = record.par1;
    event.par2 = record.par2;
    event.state = state;
    event.metadata = is_metadata_family(event.code) || (mine.described && slot.index < mine.description.preamble_slots);
    event.names = &m_names;
    if (event.row == nullptr) {
        m_diagnostics.count_unknown(event.code, {.file = m_segment.path, .offset_bytes = slot.offset_bytes});
    }
    if ((record.code & kBitsWithoutMeaning) != 0) {
        report(Code::reserved, slot.offset_bytes, fmt::format("reserved bits of code 0x{:04x} ignored", record.code));
    }
}

bool ChunkCursor::simple(const Slot& slot, Event& event) {
    if (slot.record.empty()) {
        ++chunk().unused;
        return false;
    }
    if (const tracer::EventRow* const row = kRowOfCode[slot.record.event_code()];
        row != nullptr && row->shape == tracer::Shape::combined) {
        m_first = slot;
        return complete(m_assembler.single(slot.record), event);
    }
    fill(slot, EventState::ok, event);
    note(event);
    switch (event.code) {
    case kCodeOf<"cycles_per_msec">:
    case kCodeOf<"trace_start">:
        if (event.par2 != 0) {
            take_rate(event.par2, event.offset_bytes);
        }
        break;
    case kCodeOf<"id">:
    case kCodeOf<"task_create">:
        m_names.set_pid(event.par1, event.par2);
        m_facts.names.set_pid(event.par1, event.par2);
        break;
    case kCodeOf<"numevents">:
        chunk().numevents = event.par2;
        check_repeated_count(slot);
        break;
    case kCodeOf<"blackout_start">:
    case kCodeOf<"blackout_end">:
        take_blackout(event);
        break;
    default:
        break;
    }
    return true;
}

bool ChunkCursor::complete(std::span<const std::byte> bytes, Event& event) {
    fill(m_first, EventState::ok, event);
    const auto length = lib::load_le<std::uint16_t>(bytes);
    // Older writers took two slots at least.
    const std::size_t slots = bytes.size() / tracer::kPayloadBytesPerSlot;
    const bool length_fits = length >= sizeof(std::uint16_t) && length <= bytes.size() &&
                             (tracer::combine_slots(length) == slots || slots == 2);
    const bool shape_fits = event.row == nullptr || event.row->shape == tracer::Shape::combined;
    if (!length_fits || !shape_fits) {
        report(Code::length, m_first.offset_bytes,
               shape_fits ? fmt::format("a long event of {} slots says it has {} bytes",
                                        bytes.size() / tracer::kPayloadBytesPerSlot, length)
                          : fmt::format("{} takes one slot; this is several", event.row->name));
        event.state = EventState::malformed;
        chunk().skipped += bytes.size() / tracer::kPayloadBytesPerSlot;
        lose_header();
        return true;
    }
    event.payload = bytes.first(length).subspan(sizeof(std::uint16_t));
    note(event);
    if (event.row != nullptr && event.metadata) {
        take_metadata(event, bytes);
    } else if (event.row != nullptr) {
        check_user_event(event);
    }
    return !m_skip_chunk;
}

// A typed or formatted event that does not decode must not pass for a sound one.
void ChunkCursor::check_user_event(Event& event) {
    std::string why;
    const bool sound = event.code == kCodeOf<"typed_event"> ? view_typed(event, why).has_value()
                                                            : view_formatted(event, why).has_value();
    if (!sound) {
        report(Code::user, event.offset_bytes, why);
        event.state = EventState::malformed;
        chunk().skipped += tracer::combine_slots(event.payload.size() + sizeof(std::uint16_t));
    }
}

void ChunkCursor::note(Event& event) {
    if (!event.metadata) {
        check_stamp(event);
        m_facts.usable_events += event.row != nullptr ? 1 : 0;
    }
}

// Where time falls the order is kept, and nothing is taken for a turn of the clock.
void ChunkCursor::check_stamp(Event& event) {
    ChunkReport& mine = chunk();
    if (event.ticks.value < m_greatest) {
        report(Code::time, event.offset_bytes,
               fmt::format("time falls from {} to {} ticks; the order is kept", m_greatest, event.ticks.value));
        event.state = EventState::late;
    }
    if (!mine.first_stamp) {
        mine.first_stamp = event.ticks;
        if (event.ticks.value < m_latest) {
            report(Code::order, event.offset_bytes,
                   fmt::format("the chunk begins at {} ticks, before the end of those in front of it ({}): a pipe is "
                               "shown as it comes",
                               event.ticks.value, m_latest));
        }
    }
    mine.last_stamp = event.ticks;
    m_greatest = std::max(m_greatest, event.ticks.value);
}

void ChunkCursor::finish_chunk() {
    ChunkReport& mine = chunk();
    const std::uint64_t end = m_reader.offset_bytes();
    if (mine.unused != 0) {
        report(Code::unused, mine.begin_bytes, fmt::format("{} empty slots", mine.unused));
    }
    if (m_erased != 0) {
        report(Code::magic, m_erased_bytes, fmt::format("{} slots are all ones: erased, no records", m_erased));
    }
    if (!mine.described || m_skip_chunk || m_distrust_count) {
        return;
    }
    const tracer::ChunkBegin& told = mine.description;
    if (mine.preamble < told.preamble_slots) {
        mine.missing = told.preamble_slots - mine.preamble + std::uint64_t{told.records} - mine.records;
        report(Code::truncated, end,
               fmt::format("the chunk ends inside its preamble: {} of {} slots", mine.preamble, told.preamble_slots));
    } else if (mine.records < told.records) {
        mine.missing = told.records - mine.records;
        report(Code::short_chunk, end,
               fmt::format("{} of the {} records that the chunk announces are missing", mine.missing, told.records));
    } else if (mine.records > told.records) {
        mine.extra = mine.records - told.records;
        report(Code::extra, end,
               fmt::format("{} records more than the {} that the chunk announces", mine.extra, told.records));
    } else if (mine.compact() && mine.events != told.events && mine.skipped == 0) {
        mine.skipped += std::max<std::uint64_t>(told.events - std::min(told.events, mine.events), 1);
        report(Code::compact, end,
               fmt::format("the chunk decodes to {} records and announces {}", mine.events, told.events));
    }
}

void ChunkCursor::finish() {
    if (std::exchange(m_finished, true)) {
        return;
    }
    if (m_reader.failed() || m_reader.shrunk()) {
        report(Code::io, m_reader.offset_bytes(), m_reader.failed() ? "reading failed" : "the file became shorter");
    }
    if (m_reader.tail_bytes() != 0) {
        report(Code::tail, m_reader.offset_bytes(),
               fmt::format("{} odd bytes behind the last record", m_reader.tail_bytes()));
    }
    finish_chunk();
}

} // namespace host::trace
