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
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::formats::dat {

// The memory that the cursor of a chunk leaves to the next one.
struct ReaderMemory {
    SlotBuffer slots;
    std::vector<trace::Event> events;
};

class ChunkCursor {
  public:
    // source: null if the segment's file is opened for each read. facts and diagnostics must outlive the cursor. Adds a
    // ChunkReport to facts.chunks, and another for each further chunk. memory: what an earlier cursor left, if any.
    ChunkCursor(Segment segment, std::shared_ptr<trace::ByteSource> source, trace::TraceFacts& facts,
                trace::Diagnostics& diagnostics, DamagedChunks damaged = DamagedChunks::skip, ReaderMemory memory = {});
    ChunkCursor(const ChunkCursor&) = delete;
    ChunkCursor& operator=(const ChunkCursor&) = delete;

    // Returns the memory; the cursor must not be used afterwards.
    [[nodiscard]] ReaderMemory take_memory() { return {.slots = m_slots.take_memory(), .events = std::move(m_batch)}; }

    // Returns false at the end. The caller sets time_ns, because it knows where the trace starts.
    [[nodiscard]] bool next(trace::Event& event);

    // Returns the first record of this code among the records that follow; nothing is taken or reported. Returns
    // nothing on a pipe, in a compact chunk, or if there is none.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // Sets the image for the events of next_plain(); null if there is none.
    void set_image(const trace::KernelImage* image) { m_image = image; }

    // The fast path of next() for plain records, which are most of a trace: takes up to kBatch of them from the buffer,
    // as long as nothing is to be reported about them and their stamps and `key` are less than `limit`. If it returns
    // none, it has taken nothing and next() must be called. Sets every field of the events except time_ns and timed.
    [[nodiscard]] std::span<trace::Event> next_plain(std::uint64_t key, std::uint64_t limit);

  private:
    static constexpr std::size_t kBatch = 64; // events; they stay in the first-level cache
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

    [[nodiscard]] bool is_without_end(const Slot& slot);

    // Each fills `event` and returns whether it is shown.
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
    std::uint64_t m_empty_slots = 0; // of a pipe, in a row up to here
    std::uint64_t m_greatest = 0;    // greatest stamp in this chunk so far
    std::uint64_t m_latest = 0;      // of a pipe: greatest stamp in the chunks before this one
    lib::Ticks m_exported;           // stamp of the chunk's header: no record is later
    bool m_plain_may_follow = false; // next_plain() may look at the next record
    bool m_finished = false;
    trace::Names m_names; // names known at this chunk: those of all earlier chunks, replaced by its own
    const trace::KernelImage* m_image = nullptr;
    std::vector<trace::Event> m_batch;
    std::size_t m_prepared = 0;           // events of the batch that have the common part
    std::size_t m_batch_size = kBatchMin; // grows while next_plain() fills it; stays small where chunks alternate
};

// Merges chunks by time; the order within a chunk is never changed. A segment is opened when the merge reaches its
// first stamp and is closed at its end. So there is one buffer for each chunk that is being merged, not for each chunk
// of the trace; of the others only the place is kept before their turn, and the report after it. If very many chunks
// overlap, each further one has a small buffer and keeps no file open.
class ChunkMerge {
  public:
    // facts and diagnostics must outlive the merge.
    ChunkMerge(trace::TraceFacts& facts, trace::Diagnostics& diagnostics, DamagedChunks damaged)
        : m_facts(facts)
        , m_diagnostics(diagnostics)
        , m_damaged(damaged) {}

    ChunkMerge(const ChunkMerge&) = delete;
    ChunkMerge& operator=(const ChunkMerge&) = delete;

    // Adds one pipe, or any number of sources that can be positioned. Must be called before start().
    void add(const trace::NamedSource& input);

    // Reserves memory for so many files.
    void expect(std::size_t files) { m_added.reserve(files); }

    // Adds a file of a session. It is opened again when its turn comes, because a session may have more files than a
    // process may keep open.
    // Holds what a session's manifest says about a file.
    struct Listed {
        bool is_damaged = false;                     // its bytes differ from those in the manifest
        bool holes_listed = false;                   // its bytes are those in the manifest, which lists lost slots
        std::shared_ptr<trace::ByteSource> source{}; // null: its chunks are opened by its path when their turn comes
    };

    // header is that of the window's source.
    void add_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                  const Listed& listed);

    // Must be called after everything was added. Reports chunks that are stored twice.
    void start();

    // Starts without adding: the segments are what take_segments() of an earlier merge returned. They must outlive this
    // merge.
    void start(std::span<const Segment> segments);

    // Returns what was added, in the order of the first stamps. Must be called after start(); the segments must outlive
    // the merge.
    [[nodiscard]] std::vector<Segment> take_segments() { return std::move(m_added); }

    // Returns whether these are so many chunks, if a number is given, and each is whole as far as is known before it is
    // read: then each one has come when one with a later stamp does. Must be called after start().
    [[nodiscard]] bool are_whole(std::optional<std::size_t> chunks) const {
        return m_segments.size() == chunks.value_or(m_segments.size()) &&
               std::ranges::all_of(m_segments, [](const Segment& segment) {
                   return segment.is_whole && !segment.damaged && segment.stretches.empty();
               });
    }

    // Returns the earliest stamp; nothing for a pipe, whose first stamp is not known before it is read, and for no
    // input.
    [[nodiscard]] std::optional<lib::Ticks> first_stamp() const;

    // Takes the next event in time order; its time is not yet set. Returns false at the end.
    [[nodiscard]] bool next(trace::Event& event);

    // Takes plain records of the current chunk that come before any other chunk's turn, which is the usual case. Empty:
    // nothing was taken.
    [[nodiscard]] std::span<trace::Event> next_plain();

    // Returns the cursor of the event that was returned last.
    [[nodiscard]] ChunkCursor& cursor() { return *m_current.cursor; }

  private:
    struct Head {
        std::unique_ptr<ChunkCursor> cursor;
        trace::Event event;
        std::uint64_t key = 0; // order in the merge: the event's stamp, which never decreases within one cursor
        std::size_t order = 0;
    };

    [[nodiscard]] bool take_next(trace::Event& event);
    [[nodiscard]] bool take_from_current(trace::Event& event);
    [[nodiscard]] bool is_segment_due(std::uint64_t key) const;
    void open_due_segments();
    void open(Segment segment, std::size_t order);
    void advance(Head head);
    void close(ChunkCursor& cursor);
    [[nodiscard]] std::uint64_t time_of_next_turn() const;

    trace::TraceFacts& m_facts;
    trace::Diagnostics& m_diagnostics;
    DamagedChunks m_damaged;
    std::vector<Segment> m_added;
    std::span<const Segment> m_segments;       // in the order of their first stamps
    std::shared_ptr<trace::ByteSource> m_pipe; // the input if it cannot be positioned; else null
    std::size_t m_next_segment = 0;
    std::vector<Head> m_heads; // a heap: the earliest event on top
    ReaderMemory m_memory;     // of the cursor that was closed last
    Head m_current;            // whose event the caller holds
    std::uint64_t m_turn = 0;  // stamp at which another chunk may have its turn
};

} // namespace host::formats::dat
