// SPDX-License-Identifier: MIT
// Merges chunks by time; the order within a chunk is never changed. A segment is opened when the merge reaches its
// first stamp and closed at its end, so there is one buffer per chunk that is being merged, not per chunk of the trace:
// of each of those only its place is kept before, and its report after its turn. Where very many chunks overlap, each
// further one has a small buffer and holds no file open.
#pragma once

#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/segment.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::formats::dat {

class ChunkMerge {
  public:
    // facts and diagnostics outlive the merge.
    ChunkMerge(trace::TraceFacts& facts, trace::Diagnostics& diagnostics, DamagedChunks damaged)
        : m_facts(facts)
        , m_diagnostics(diagnostics)
        , m_damaged(damaged) {}

    ChunkMerge(const ChunkMerge&) = delete;
    ChunkMerge& operator=(const ChunkMerge&) = delete;

    // One pipe, or any number of sources that can be positioned. Before start().
    void add(const trace::NamedSource& input);

    // So many files will be added.
    void expect(std::size_t files) { m_added.reserve(files); }

    // A file of a session. It is opened again when its turn comes: a session may have more files than a process may
    // hold open.
    void add_file(SlotWindow& window, const std::string& path) { add_file(window, header_of(window), path, {}); }

    // What a session's manifest says of a file.
    struct Listed {
        bool is_damaged = false;   // its bytes are others
        bool holes_listed = false; // they are these, and slots of it were lost
    };

    // header: of the window's source.
    void add_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                  const Listed& listed);

    // Everything was added. Reports chunks that are stored twice.
    void start();

    // Instead of adding: what take_segments() of an earlier merge returned. They outlive this one.
    void start(std::span<const Segment> segments);

    // What was added, in the order of the first stamps. After start(); they outlive the merge.
    [[nodiscard]] std::vector<Segment> take_segments() { return std::move(m_added); }

    // The earliest stamp. Nothing for a pipe, whose first stamp is not known before it is read, and for no input.
    [[nodiscard]] std::optional<lib::Ticks> first_stamp() const;

    // The next event in time order, its time not yet set. False at the end.
    [[nodiscard]] bool next(trace::Event& event);

    // The usual case: plain records of the current chunk, before any other chunk's turn. Empty: nothing was taken.
    [[nodiscard]] std::span<trace::Event> next_plain();

    // Returns the cursor of the event that was returned last.
    [[nodiscard]] ChunkCursor& cursor() { return *m_current.cursor; }

  private:
    struct Head {
        std::unique_ptr<ChunkCursor> cursor;
        trace::Event event;
        std::uint64_t key = 0; // of the merge: the event's stamp, never falling within one cursor
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
    std::shared_ptr<trace::ByteSource> m_pipe; // instead of segments, when the input cannot be positioned
    std::size_t m_next_segment = 0;
    std::vector<Head> m_heads; // a heap: the earliest event on top
    ReaderMemory m_memory;     // of the cursor that was closed last
    Head m_current;            // whose event the caller holds
    std::uint64_t m_turn = 0;  // at this stamp another chunk may have its turn
};

} // namespace host::formats::dat
