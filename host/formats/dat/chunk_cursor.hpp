// SPDX-License-Identifier: MIT
// Turns the slots of one segment into events, in the order of the slots. A segment of a file holds one chunk; a pipe
// may hold many, one after the other, each of which begins with its chunk_begin.
//
//      SlotFeed  ->  CombinedAssembler  ->  ChunkCursor  ->  Event
//      (slots)       (long events)             |
//                                         ChunkLedger: what the chunk promised, what is read of it
#pragma once

#include "host/formats/dat/chunk_ledger.hpp"
#include "host/formats/dat/chunk_scope.hpp"
#include "host/formats/dat/combined.hpp"
#include "host/formats/dat/plain_record.hpp"
#include "host/formats/dat/segment.hpp"
#include "host/formats/dat/slot_feed.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace host::formats::dat {

class ChunkCursor {
  public:
    // facts and diagnostics outlive the cursor. Adds a ChunkReport to facts.chunks, and another for each further chunk.
    ChunkCursor(const Segment& segment, std::shared_ptr<trace::ByteSource> source, trace::TraceFacts& facts,
                trace::Diagnostics& diagnostics, DamagedChunks damaged = DamagedChunks::skip);
    ChunkCursor(const ChunkCursor&) = delete;
    ChunkCursor& operator=(const ChunkCursor&) = delete;

    // False at the end. time_ns is left to the caller, who knows where the trace starts.
    [[nodiscard]] bool next(trace::Event& event);

    // The first record of this code after those that were taken, unchanged: nothing is taken or reported. Nothing on a
    // pipe, in a compact chunk, or if there is none.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // For the events of next_plain(); null: there is no image.
    void set_image(const trace::KernelImage* image) { m_image = image; }

    // The fast path of next() for plain records, which most traces consist of: takes the next one if nothing is to be
    // reported about it, and if both its stamp and `key` are less than `limit`. False: nothing was taken, next()
    // decides. Every field of the event is written except time_ns and timed.
    [[nodiscard]] bool next_plain(std::uint64_t key, std::uint64_t limit, trace::Event& event) {
        const std::byte* const slot = m_plain_may_follow ? m_feed.buffered() : nullptr;
        if (slot == nullptr) {
            return false;
        }
        const tracer::Record record = load_record(slot);
        const tracer::EventRow* const row = plain_row(record.code);
        const std::uint64_t stamp = record.stamp().value;
        trace::ChunkReport& chunk = m_scope.chunk();
        if (row == nullptr || stamp < m_greatest || std::max(stamp, key) >= limit) {
            return false;
        }
        fill_plain(record, *row, chunk, event);
        take_plain(chunk, 1, stamp);
        return true;
    }

    // All that next_plain() would take one after the other, up to kBatch and only from the buffer.
    [[nodiscard]] std::span<trace::Event> next_plain(std::uint64_t key, std::uint64_t limit);

  private:
    static constexpr std::size_t kBatch = 64; // events that stay in the first cache

    [[nodiscard]] bool next_of_any_kind(trace::Event& event);
    [[nodiscard]] bool plain_records_may_follow() const;
    void fill_plain(const tracer::Record& record, const tracer::EventRow& row, const trace::ChunkReport& chunk,
                    trace::Event& event) const;
    void prepare_batch(const trace::ChunkReport& chunk);

    // So many plain records were taken, the last one with this stamp.
    void take_plain(trace::ChunkReport& chunk, std::size_t count, std::uint64_t last_stamp) {
        m_greatest = last_stamp;
        chunk.last_stamp->value = last_stamp;
        chunk.records += count;
        chunk.events += count;
        m_scope.facts().usable_events += count;
        m_feed.skip(count);
    }

    [[nodiscard]] bool read_slot(Slot& slot);
    void begin_chunk();
    void finish();
    [[nodiscard]] bool is_header_lost(const Slot& slot);
    void lose_header();

    // Each fills `event` and returns whether it is to be shown.
    bool take_slot(const Slot& slot, trace::Event& event);
    bool take_simple(const Slot& slot, trace::Event& event);
    bool take_complete(std::span<const std::byte> bytes, trace::Event& event);

    void fill(const Slot& slot, trace::EventState state, trace::Event& event);
    void take_description(const tracer::ChunkBegin& description);
    void take_metadata_payload(const trace::Event& event, std::span<const std::byte> payload);
    void check_user_event(trace::Event& event);
    void note(trace::Event& event);
    void check_stamp(trace::Event& event);

    ChunkScope m_scope;
    ChunkLedger m_ledger;
    SlotFeed m_feed;
    CombinedAssembler m_assembler;
    Slot m_first;                    // of the long event that is open
    std::optional<Slot> m_held;      // a slot that broke off a long event and is still to be decoded
    std::uint64_t m_greatest = 0;    // stamp in this chunk so far
    std::uint64_t m_latest = 0;      // stamp in the chunks before this one, of a pipe
    bool m_plain_may_follow = false; // next_plain() may look at the next record
    bool m_finished = false;
    trace::Names m_names; // what is known at this chunk: all earlier chunks', overlaid by its own
    const trace::KernelImage* m_image = nullptr;
    std::vector<trace::Event> m_batch;
};

// Stores alone, no copy of a whole Event: what the event held before is not read.
inline void ChunkCursor::fill_plain(const tracer::Record& record, const tracer::EventRow& row,
                                    const trace::ChunkReport& chunk, trace::Event& event) const {
    event.ticks = record.stamp();
    event.cpu = chunk.description.cpu;
    event.chunk = chunk.description.chunk;
    event.generation = chunk.description.generation;
    event.source = static_cast<std::uint32_t>(m_scope.index());
    event.record = m_feed.slots_taken();
    event.offset_bytes = m_feed.offset_bytes();
    event.row = &row;
    event.raw_code = record.code;
    event.code = row.code;
    event.par1 = record.par1;
    event.par2 = record.par2;
    event.state = trace::EventState::ok;
    event.metadata = false;
    event.payload = {};
    event.names = &m_names;
    event.image = m_image;
    event.origin = trace::Origin::record;
    event.event_class = 0;
    event.number = 0;
    event.foreign_name = {};
    event.words = {};
}

} // namespace host::formats::dat
