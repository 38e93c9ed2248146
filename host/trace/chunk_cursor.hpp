// SPDX-License-Identifier: MIT
// Turns the slots of one chunk image into events, in the order in which they stand. It owns the policy for damaged
// input: what is reported under which code, and what is skipped. A segment of a file holds one chunk; a pipe may hold
// many, one behind the other, and the cursor tells them apart by their chunk_begin.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/combined.hpp"
#include "host/trace/compact_slots.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/plain_record.hpp"
#include "host/trace/segment.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace host::trace {

// Whether to decode a chunk that a count or a checksum condemns.
enum class Condemned : std::uint8_t { skipped, salvaged };

class ChunkCursor {
  public:
    // facts and diagnostics outlive the cursor. Adds a ChunkReport to facts.chunks, and another for each further chunk.
    ChunkCursor(const Segment& segment, std::shared_ptr<ByteSource> source, TraceFacts& facts, Diagnostics& diagnostics,
                Condemned condemned = Condemned::skipped);
    ChunkCursor(const ChunkCursor&) = delete;
    ChunkCursor& operator=(const ChunkCursor&) = delete;

    // False at the end. time_ns is left to the caller, who knows where the trace starts.
    [[nodiscard]] bool next(Event& event);

    // The first record of this code behind what was taken, as it stands: nothing is taken, and nothing is said about
    // it. Nothing on a pipe, in a compact chunk, or if there is none.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // For the events of next_plain(); null: nobody has it.
    void set_image(const KernelImage* image) { m_image = image; }

    // The short way of next() for plain records, of which nearly all traces consist nearly everywhere: takes the next
    // one if nothing at all is to be said about it, and if both its stamp and `key` lie before `limit`. False: nothing
    // was taken, next() decides. Every field of the event is written, time_ns and timed apart.
    [[nodiscard]] bool next_plain(std::uint64_t key, std::uint64_t limit, Event& event) {
        const std::byte* const slot = m_lane_open ? m_reader.buffered() : nullptr;
        if (slot == nullptr) {
            return false;
        }
        const tracer::Record record = load_record(slot);
        const tracer::EventRow* const row = plain_row(record.code);
        const std::uint64_t stamp = record.stamp().value;
        ChunkReport& mine = chunk();
        if (row == nullptr || stamp < m_greatest || std::max(stamp, key) >= limit) {
            return false;
        }
        fill_plain(record, *row, mine, event);
        m_greatest = stamp;
        mine.last_stamp->value = stamp;
        ++mine.records;
        ++mine.events;
        ++m_facts.usable_events;
        ++m_next_index;
        m_reader.skip();
        return true;
    }

    // All that next_plain() would take one after the other, up to kBatch, and without what lies behind the buffer.
    [[nodiscard]] std::span<Event> next_plain(std::uint64_t key, std::uint64_t limit);

  private:
    static constexpr std::size_t kBatch = 64; // events that stay in the first cache

    struct Slot {
        tracer::Record record;
        std::uint64_t index = 0; // in its chunk
        std::uint64_t offset_bytes = 0;
        bool compact = false; // out of a compact stream
    };

    [[nodiscard]] bool next_slowly(Event& event);
    [[nodiscard]] bool plain_records_may_follow() const;
    void fill_plain(const tracer::Record& record, const tracer::EventRow& row, const ChunkReport& mine,
                    Event& event) const;
    void prepare_batch(const ChunkReport& mine);
    [[nodiscard]] bool read_slot(Slot& slot);
    [[nodiscard]] bool read_compact_slot(Slot& slot);
    [[nodiscard]] bool begin_compact(std::uint64_t offset_bytes);
    [[nodiscard]] bool begins_next_chunk(const tracer::Record& record) const;
    void begin_chunk(std::uint64_t offset_bytes);
    void finish_chunk();
    void finish();
    void count(const Slot& slot);

    // Each fills `event` and says whether it is to be shown.
    bool simple(const Slot& slot, Event& event);
    bool complete(std::span<const std::byte> bytes, Event& event);
    void fill(const Slot& slot, EventState state, Event& event);

    void take_metadata(const Event& event, std::span<const std::byte> payload);
    void take_description(const tracer::ChunkBegin& description);
    [[nodiscard]] bool may_be_read(const tracer::ChunkBegin& description);
    [[nodiscard]] bool came_before(const tracer::ChunkBegin& description);
    void check_repeated_count(const Slot& slot);
    void condemn(Code code, std::uint64_t offset_bytes, std::string_view text);
    void look_at_beginning(const Slot& slot);
    void lose_header();
    void take_blackout(const Event& event);
    void take_rate(std::uint32_t khz, std::uint64_t offset_bytes);
    void check_user_event(Event& event);
    void note(Event& event);
    void check_stamp(Event& event);
    void report(Code code, std::uint64_t offset_bytes, std::string_view text);

    [[nodiscard]] ChunkReport& chunk() { return m_facts.chunks[m_report]; }

    Segment m_segment;
    std::shared_ptr<ByteSource> m_source;
    TraceFacts& m_facts;
    Diagnostics& m_diagnostics;
    SlotReader m_reader;
    bool m_reading_oldest;
    CombinedAssembler m_assembler;
    Slot m_first;               // of the long event that is open
    std::optional<Slot> m_held; // a slot that broke off a long event and is still to be decoded
    std::size_t m_report = 0;
    std::uint64_t m_next_index = 0;
    std::unique_ptr<CompactSlots> m_compact; // while inside a compact stream
    Condemned m_condemned;
    bool m_skip_chunk = false;
    bool m_distrust_count = false; // the chunk is salvaged, its end is where the next one begins
    std::uint64_t m_greatest = 0;  // stamp in this chunk so far
    std::uint64_t m_latest = 0;    // stamp in the chunks before this one, of a pipe
    std::uint64_t m_erased = 0;    // slots of all ones
    std::size_t m_chunks = 0;      // begun so far
    std::uint64_t m_erased_bytes = 0;
    std::set<std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>> m_seen; // chunks of a pipe
    bool m_lane_open = false; // next_plain() may look at the next record
    bool m_finished = false;
    Names m_names; // what is known at this chunk: all earlier chunks', overlaid by its own
    const KernelImage* m_image = nullptr;
    std::vector<Event> m_batch;
};

// Stores alone, no copy of a whole Event: what the event held before is not read.
inline void ChunkCursor::fill_plain(const tracer::Record& record, const tracer::EventRow& row, const ChunkReport& mine,
                                    Event& event) const {
    event.ticks = record.stamp();
    event.cpu = mine.description.cpu;
    event.chunk = mine.description.chunk;
    event.generation = mine.description.generation;
    event.source = static_cast<std::uint32_t>(m_report);
    event.record = m_next_index;
    event.offset_bytes = m_reader.offset_bytes();
    event.row = &row;
    event.raw_code = record.code;
    event.code = row.code;
    event.par1 = record.par1;
    event.par2 = record.par2;
    event.state = EventState::ok;
    event.metadata = false;
    event.payload = {};
    event.names = &m_names;
    event.image = m_image;
    event.origin = Origin::record;
    event.event_class = 0;
    event.number = 0;
    event.foreign_name = {};
    event.words = {};
}

} // namespace host::trace
