// SPDX-License-Identifier: MIT
// Decodes slot by slot; the fast path for plain records is at the end. Every branch that gives something up reports it.
#include "host/formats/dat/chunk_cursor.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/value_text.hpp"
#include "lib/assert.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::formats::dat {

namespace {

constexpr auto kRowOfCode = [] {
    std::array<const tracer::EventRow*, 256> rows{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        rows[row.code] = &row;
    }
    return rows;
}();

bool is_erased(const tracer::Record& record) {
    return record.code == 0xFFFF && record.par1 == 0xFFFF && record.par2 == 0xFFFF'FFFF &&
           record.stamp().value == ~std::uint64_t{0};
}

} // namespace

ChunkCursor::ChunkCursor(Segment segment, std::shared_ptr<trace::ByteSource> source, trace::TraceFacts& facts,
                         trace::Diagnostics& diagnostics, DamagedChunks damaged, ReaderMemory memory)
    : m_scope(std::move(segment), facts, diagnostics, damaged)
    , m_ledger(m_scope)
    , m_slots(m_scope, std::move(source), std::move(memory.slots))
    , m_batch(std::move(memory.events)) {
    begin_chunk();
}

// Prepares for the scope's next chunk.
void ChunkCursor::begin_chunk() {
    m_ledger.begin();
    m_names = m_scope.facts().names;
    m_latest = std::max(m_latest, m_greatest);
    m_greatest = 0;
}

std::optional<tracer::Record> ChunkCursor::look_ahead(std::uint8_t code) const {
    return m_scope.chunk().compact() ? std::nullopt : m_slots.look_ahead(code);
}

bool ChunkCursor::read_slot(Slot& slot) {
    if (m_held) {
        slot = *std::exchange(m_held, std::nullopt);
    } else if (!m_slots.next(slot, m_ledger.is_skipped())) {
        return false;
    }
    if (!slot.compact && slot.index != 0 && begins_chunk(slot.record) && !m_assembler.is_open()) {
        m_slots.finish_sum();
        m_ledger.finish(m_slots.offset_bytes());
        m_scope.begin(slot.offset_bytes);
        m_slots.restart(slot);
        begin_chunk();
        ASSERT(slot.index == 0 && !m_ledger.is_skipped());
    }
    return true;
}

bool ChunkCursor::next(trace::Event& event) {
    m_plain_may_follow = false;
    const bool taken = next_of_any_kind(event);
    m_plain_may_follow = taken && plain_records_may_follow();
    return taken;
}

bool ChunkCursor::next_of_any_kind(trace::Event& event) {
    Slot slot;
    while (read_slot(slot) && !is_without_end(slot)) {
        if (m_ledger.is_skipped() || is_header_lost(slot)) {
            m_ledger.skip_slot();
        } else if (is_erased(slot.record) && m_assembler.is_idle()) {
            m_ledger.take_erased(slot.offset_bytes);
        } else if (take_slot(slot, event)) {
            return true;
        }
    }
    if (m_assembler.is_open()) {
        m_assembler.reset();
        m_scope.report("E-INCOMPLETE", m_first.offset_bytes, "a long event is cut off by the end");
        fill(m_first, trace::EventState::incomplete, event);
        return true;
    }
    finish();
    return false;
}

// Returns whether a pipe has nothing but empty slots, as /dev/zero has. That is reported.
bool ChunkCursor::is_without_end(const Slot& slot) {
    constexpr std::uint64_t kEmptySlotsMax = 1 << 20; // in a row
    m_empty_slots = slot.record.empty() && !m_scope.chunk().described && !m_slots.is_seekable() ? m_empty_slots + 1 : 0;
    if (m_empty_slots > kEmptySlotsMax) {
        m_scope.report("E-TRUNC", slot.offset_bytes, "a million empty slots in a row: the rest is not read");
    }
    return m_empty_slots > kEmptySlotsMax;
}

bool ChunkCursor::take_slot(const Slot& slot, trace::Event& event) {
    using Outcome = CombinedAssembler::Outcome;
    const Outcome outcome = m_assembler.feed(slot.record);
    if (outcome != Outcome::broken && !slot.record.empty()) { // a slot that ends an event early is fed again
        m_ledger.count(slot);
    }
    switch (outcome) {
    case Outcome::simple:
        return take_simple(slot, event);
    case Outcome::open:
        if (slot.record.combine() == tracer::Combine::first) {
            m_first = slot;
        }
        return false;
    case Outcome::complete:
        return take_complete(m_assembler.payload(), event);
    case Outcome::broken:
        m_scope.report("E-INCOMPLETE", m_first.offset_bytes, "a long event is cut off by another one");
        m_held = slot;
        fill(m_first, trace::EventState::incomplete, event);
        lose_header();
        return true;
    case Outcome::orphan:
        if (m_ledger.distrusts_count() && slot.record.event_code() == trace::kCodeOf<"chunk_begin">) {
            return false; // the rest of a lost header, which was reported
        }
        m_ledger.skip_slot();
        if (m_scope.chunk().description.overwritten == 0) {
            m_scope.report("W-ORPHAN", slot.offset_bytes, "a later slot of a long event whose first slot is missing");
        }
        fill(slot, trace::EventState::orphan, event);
        return true;
    case Outcome::mixed:
        m_ledger.skip_slot();
        m_scope.report("E-MIX", slot.offset_bytes, "a slot of another long event is inside this one: both given up");
        fill(slot, trace::EventState::malformed, event);
        lose_header();
        return true;
    case Outcome::too_long:
        m_scope.report("E-TOOLONG", m_first.offset_bytes,
                       fmt::format("a long event of more than {} slots", tracer::kCombineSlotsMax));
        fill(m_first, trace::EventState::malformed, event);
        return true;
    case Outcome::skipping:
        m_ledger.skip_slot();
        return false;
    }
    return false;
}

void ChunkCursor::fill(const Slot& slot, trace::EventState state, trace::Event& event) {
    const tracer::Record& record = slot.record;
    const trace::ChunkReport& chunk = m_scope.chunk();
    event = trace::Event{};
    event.ticks = record.stamp();
    event.cpu = chunk.description.cpu;
    event.chunk = chunk.description.chunk;
    event.generation = chunk.description.generation;
    event.source = static_cast<std::uint32_t>(m_scope.index());
    event.record = slot.index;
    event.offset_bytes = slot.offset_bytes;
    event.raw_code = record.code;
    event.code = tracer::canonical_code(record.event_code());
    event.row = kRowOfCode[event.code];
    event.par1 = record.par1;
    event.par2 = record.par2;
    event.state = state;
    event.metadata = m_ledger.is_metadata(slot);
    event.doubtful = chunk.damaged;
    event.names = &m_names;
    if (event.row == nullptr) {
        m_scope.diagnostics().count_unknown(event.code,
                                            {.file = m_scope.segment().path, .offset_bytes = slot.offset_bytes});
    }
    if ((record.code & kBitsWithoutMeaning) != 0) {
        m_scope.report("W-RESERVED", slot.offset_bytes,
                       fmt::format("reserved bits of code 0x{:04x} ignored", record.code));
    }
}

bool ChunkCursor::take_simple(const Slot& slot, trace::Event& event) {
    trace::ChunkReport& chunk = m_scope.chunk();
    if (slot.record.empty()) {
        m_ledger.take_empty(slot);
        return false;
    }
    if (const tracer::EventRow* const row = kRowOfCode[slot.record.event_code()];
        row != nullptr && row->shape == tracer::Shape::combined) {
        m_first = slot;
        return take_complete(m_assembler.single(slot.record), event);
    }
    fill(slot, trace::EventState::ok, event);
    note(event);
    // An application may log these events as well; the values in the chunk's header take precedence.
    const bool is_stated = chunk.described && !event.metadata;
    switch (event.code) {
    case trace::kCodeOf<"cycles_per_msec">:
    case trace::kCodeOf<"trace_start">:
        if (event.par2 != 0 && !(is_stated && chunk.description.tsc_khz != 0)) {
            take_rate(m_scope, event.par2, event.offset_bytes);
        }
        break;
    case trace::kCodeOf<"id">:
    case trace::kCodeOf<"task_create">:
        trace::change_both(m_scope.facts().names, m_names,
                           [&](trace::Names& names) { names.set_pid(event.par1, event.par2); });
        break;
    case trace::kCodeOf<"numevents">:
        if (!is_stated) {
            chunk.numevents = event.par2;
            m_ledger.check_repeated_count(slot);
        }
        break;
    case trace::kCodeOf<"blackout_start">:
        chunk.in_blackout = true;
        break;
    case trace::kCodeOf<"blackout_end">:
        chunk.in_blackout = false;
        chunk.blackout += event.par2;
        break;
    default:
        break;
    }
    return true;
}

bool ChunkCursor::take_complete(std::span<const std::byte> bytes, trace::Event& event) {
    fill(m_first, trace::EventState::ok, event);
    const auto length = lib::load_le<std::uint16_t>(bytes);
    // Older writers used at least two slots.
    const std::size_t slots = bytes.size() / tracer::kPayloadBytesPerSlot;
    const bool length_fits = length >= sizeof(std::uint16_t) && length <= bytes.size() &&
                             (tracer::combine_slots(length) == slots || slots == 2);
    const bool shape_fits = event.row == nullptr || event.row->shape == tracer::Shape::combined;
    if (!length_fits || !shape_fits) {
        m_scope.report("E-LEN", m_first.offset_bytes,
                       shape_fits ? fmt::format("a long event of {} slots says it has {} bytes", slots, length)
                                  : fmt::format("{} takes one slot; this is several", event.row->name));
        event.state = trace::EventState::malformed;
        m_scope.chunk().skipped += slots;
        lose_header();
        return true;
    }
    if (is_metadata_family(event.code) && !event.metadata) {
        m_scope.report("E-META", m_first.offset_bytes,
                       fmt::format("0x{:02x} describes a chunk, and is not in its preamble: ignored", event.code));
        event.state = trace::EventState::malformed;
        m_scope.chunk().skipped += slots;
        return true;
    }
    event.payload = bytes.first(length).subspan(sizeof(std::uint16_t));
    note(event);
    if (event.row != nullptr && event.metadata) {
        take_metadata_payload(event, bytes);
    } else if (event.row != nullptr) {
        check_user_event(event);
    }
    return !m_ledger.is_skipped();
}

// Marks a typed or formatted event that cannot be decoded, so that it is not taken for a valid one.
void ChunkCursor::check_user_event(trace::Event& event) {
    const auto refuse = [&](const auto& view) {
        if (!view) {
            m_scope.report("E-USER", event.offset_bytes, view.error().text);
            event.state = trace::EventState::malformed;
        }
    };
    if (event.code == trace::kCodeOf<"typed_event">) {
        refuse(trace::view_typed(event));
    } else {
        refuse(trace::view_formatted(event));
    }
}

void ChunkCursor::note(trace::Event& event) {
    if (!event.metadata) {
        check_stamp(event);
        m_scope.facts().usable_events += event.row != nullptr ? 1 : 0;
    }
}

// A damaged stamp must not change other times or a range: its event gets the stamp of the event before it and is marked
// as damaged.
bool ChunkCursor::take_stray_stamp(trace::Event& event) {
    trace::ChunkReport& chunk = m_scope.chunk();
    const std::uint64_t stamp = event.ticks.value;
    const bool is_first = !chunk.first_stamp;
    if (chunk.compact() || (!is_first && std::max(stamp, m_greatest) - std::min(stamp, m_greatest) <= kStrayTicks)) {
        return false;
    }
    const auto next = m_slots.peek();
    const bool is_last = !next || is_metadata_family(next->code);
    if (is_last && (is_first || !tracer::is_sealed(chunk.description) || m_greatest > m_exported.value)) {
        return false;
    }
    const std::uint64_t after = is_last ? m_exported.value : next->stamp().value;
    const bool is_late = stamp > after && stamp - after > kStrayTicks;
    if (is_first ? !is_late : after < m_greatest || (stamp >= m_greatest && !is_late)) {
        return false;
    }
    m_scope.report(
        "W-TIME", event.offset_bytes,
        fmt::format("the stamp of {} ticks is far from those before and after it: damaged, and not used", stamp));
    event.ticks = {is_first ? after : m_greatest};
    event.state = trace::EventState::malformed;
    ++chunk.skipped;
    return true;
}

// The order of the slots is kept if a stamp is less than the one before it; this is not treated as a wrap of the clock.
void ChunkCursor::check_stamp(trace::Event& event) {
    trace::ChunkReport& chunk = m_scope.chunk();
    if (take_stray_stamp(event)) {
        return;
    }
    if (event.ticks.value < m_greatest) {
        m_scope.report("W-TIME", event.offset_bytes,
                       fmt::format("time falls from {} to {} ticks; the order is kept", m_greatest, event.ticks.value));
        event.state = trace::EventState::late;
    }
    if (!chunk.first_stamp) {
        chunk.first_stamp = event.ticks;
        if (event.ticks.value < m_latest) {
            m_scope.report("W-ORDER", event.offset_bytes,
                           fmt::format("the chunk begins at {} ticks, before the end of those in front of it ({}): a "
                                       "pipe is shown as it comes",
                                       event.ticks.value, m_latest));
        }
    }
    chunk.last_stamp = event.ticks;
    m_greatest = std::max(m_greatest, event.ticks.value);
}

void ChunkCursor::finish() {
    if (!std::exchange(m_finished, true)) {
        m_slots.report_end();
        m_slots.finish_sum();
        m_ledger.finish(m_slots.offset_bytes());
        m_scope.finish();
    }
}

// --- the fast path: plain records in a row, straight from the buffer -------------------------------------------------

// Returns an event with what all plain records of a chunk have in common.
trace::Event ChunkCursor::common_of(const trace::ChunkReport& chunk) const {
    trace::Event common;
    common.cpu = chunk.description.cpu;
    common.chunk = chunk.description.chunk;
    common.generation = chunk.description.generation;
    common.source = static_cast<std::uint32_t>(m_scope.index());
    common.names = &m_names;
    common.image = m_image;
    common.doubtful = chunk.damaged;
    return common;
}

// The common part stays in the batch from one call to the next.
void ChunkCursor::prepare_batch(const trace::ChunkReport& chunk) {
    const tracer::ChunkBegin& header = chunk.description;
    if (m_prepared != 0 && (m_batch.front().source != m_scope.index() || m_batch.front().cpu != header.cpu ||
                            m_batch.front().chunk != header.chunk || m_batch.front().generation != header.generation ||
                            m_batch.front().image != m_image || m_batch.front().doubtful != chunk.damaged)) {
        m_prepared = 0;
    }
    if (m_prepared < m_batch_size) {
        m_batch.resize(std::max(m_batch.size(), m_batch_size));
        std::fill(m_batch.begin() + static_cast<std::ptrdiff_t>(m_prepared),
                  m_batch.begin() + static_cast<std::ptrdiff_t>(m_batch_size), common_of(chunk));
        m_prepared = m_batch_size;
    }
}

// Takes so many of the buffered records; `last` is the stamp of the last of them.
void ChunkCursor::take_plain(std::size_t records, std::uint64_t last) {
    trace::ChunkReport& chunk = m_scope.chunk();
    m_greatest = last;
    chunk.last_stamp->value = last;
    chunk.records += records;
    chunk.events += records;
    m_scope.facts().usable_events += records;
    m_slots.skip(records);
}

std::span<trace::Event> ChunkCursor::next_plain(std::uint64_t key, std::uint64_t limit) {
    const std::span<const std::byte> slots = m_slots.buffered();
    if (!m_plain_may_follow || key >= limit || slots.empty()) {
        return {};
    }
    prepare_batch(m_scope.chunk());
    trace::Event* const first = m_batch.data();
    std::uint64_t index = m_slots.slots_taken();
    const std::size_t slots_max = std::min(slots.size() / tracer::kRecordBytes, m_ledger.announced_after(index));
    const trace::Event* const end = first + std::min(m_batch_size, slots_max);
    const std::byte* slot = slots.data();
    std::uint64_t offset_bytes = m_slots.offset_bytes();
    std::uint64_t last = m_greatest;
    trace::Event* event = first;
    for (; event != end; ++event) {
        const tracer::Record record = load_record(slot);
        const tracer::EventRow* const row = plain_row(record.code);
        const std::uint64_t stamp = load_stamp(slot);
        if (row == nullptr || stamp - last > kStrayTicks ||
            stamp >= limit) { // a stamp that is less than `last` gives a huge difference
            break;
        }
        last = stamp;
        event->ticks = {stamp};
        event->record = index++;
        event->offset_bytes = offset_bytes;
        event->row = row;
        event->raw_code = record.code;
        event->code = static_cast<std::uint8_t>(record.code); // the code of a plain record is canonical
        event->par1 = record.par1;
        event->par2 = record.par2;
        slot += tracer::kRecordBytes;
        offset_bytes += tracer::kRecordBytes;
    }
    const auto count = static_cast<std::size_t>(event - first);
    if (count != 0) {
        take_plain(count, last);
    }
    m_batch_size = count == m_batch_size ? std::min(2 * m_batch_size, kBatch) : m_batch_size;
    return std::span(m_batch).first(count);
}

// Returns whether the remaining records of this chunk need no check beyond those of next_plain(). Only next() changes
// any of these conditions.
bool ChunkCursor::plain_records_may_follow() const {
    const trace::ChunkReport& chunk = m_scope.chunk();
    const bool in_preamble = chunk.described && m_slots.slots_taken() < chunk.description.preamble_slots;
    return !m_held && !m_ledger.is_skipped() && !in_preamble && !chunk.compact() && m_assembler.is_idle() &&
           chunk.last_stamp;
}

} // namespace host::formats::dat
