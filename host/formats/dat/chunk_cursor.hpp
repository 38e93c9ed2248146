// SPDX-License-Identifier: MIT
// Turns the slots of one segment into events, in the order of the slots. A segment of a file holds one chunk; a pipe
// may hold many, one after the other, each of which begins with its chunk_begin.
//
//      ChunkSlots  ->  ChunkCursor  ->  Event           CombinedAssembler: puts the slots of long events together
//      (slots)              |
//                      ChunkLedger: what the chunk announced, and what is found of it
#pragma once

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/chunk_ledger.hpp"
#include "host/formats/dat/chunk_slots.hpp"
#include "host/formats/dat/segment.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::formats::dat {

// What the cursor of a chunk leaves to the next one.
struct ReaderMemory {
    SlotBuffer slots;
    std::vector<trace::Event> events;
};

class ChunkCursor {
  public:
    // source: null if the segment's file is to be opened for each read. facts and diagnostics outlive the cursor. Adds
    // a ChunkReport to facts.chunks, and another for each further chunk. memory: what an earlier cursor left, if any.
    ChunkCursor(Segment segment, std::shared_ptr<trace::ByteSource> source, trace::TraceFacts& facts,
                trace::Diagnostics& diagnostics, DamagedChunks damaged = DamagedChunks::skip, ReaderMemory memory = {});
    ChunkCursor(const ChunkCursor&) = delete;
    ChunkCursor& operator=(const ChunkCursor&) = delete;

    // The cursor is not used any more.
    [[nodiscard]] ReaderMemory take_memory() { return {.slots = m_slots.take_memory(), .events = std::move(m_batch)}; }

    // False at the end. time_ns is left to the caller, who knows where the trace starts.
    [[nodiscard]] bool next(trace::Event& event);

    // The first record of this code after those that were taken, unchanged: nothing is taken or reported. Nothing on a
    // pipe, in a compact chunk, or if there is none.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // For the events of next_plain(); null: there is no image.
    void set_image(const trace::KernelImage* image) { m_image = image; }

    // The fast path of next() for plain records, which most traces consist of: takes up to kBatch of them from the
    // buffer, as long as nothing is to be reported about them and their stamps and `key` are less than `limit`. Empty:
    // nothing was taken, next() decides. Every field of the events is written except time_ns and timed.
    [[nodiscard]] std::span<trace::Event> next_plain(std::uint64_t key, std::uint64_t limit);

  private:
    static constexpr std::size_t kBatch = 64; // events that stay in the first cache
    static constexpr std::size_t kBatchMin = 4;

    [[nodiscard]] bool next_of_any_kind(trace::Event& event);
    [[nodiscard]] bool plain_records_may_follow() const;
    [[nodiscard]] trace::Event common_of(const trace::ChunkReport& chunk) const;
    void prepare_batch(const trace::ChunkReport& chunk);
    void take_plain(std::size_t records, std::uint64_t last);

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
    [[nodiscard]] bool is_of_another_run(const tracer::ChunkBegin& description);
    void check_sum(const tracer::ChunkBegin& description);
    void take_metadata_payload(const trace::Event& event, std::span<const std::byte> payload);
    void check_user_event(trace::Event& event);
    void note(trace::Event& event);
    void check_stamp(trace::Event& event);
    [[nodiscard]] bool take_stray_stamp(trace::Event& event);

    ChunkScope m_scope;
    ChunkLedger m_ledger;
    ChunkSlots m_slots;
    CombinedAssembler m_assembler;
    Slot m_first;                    // of the long event that is open
    std::optional<Slot> m_held;      // a slot that broke off a long event and is still to be decoded
    std::uint64_t m_greatest = 0;    // stamp in this chunk so far
    std::uint64_t m_latest = 0;      // stamp in the chunks before this one, of a pipe
    lib::Ticks m_exported;           // stamp of the chunk's header: no record is later
    bool m_plain_may_follow = false; // next_plain() may look at the next record
    bool m_finished = false;
    trace::Names m_names; // what is known at this chunk: all earlier chunks', overlaid by its own
    const trace::KernelImage* m_image = nullptr;
    std::vector<trace::Event> m_batch;
    std::size_t m_prepared = 0;           // events of the batch that have what all of the chunk have in common
    std::size_t m_batch_size = kBatchMin; // grows while next_plain() fills it: where chunks alternate it stays small
};

} // namespace host::formats::dat
