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
#include "host/trace/segment.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace host::trace {

class ChunkCursor {
  public:
    // facts and diagnostics outlive the cursor. Adds a ChunkReport to facts.chunks, and another for each further chunk.
    ChunkCursor(const Segment& segment, std::shared_ptr<ByteSource> source, TraceFacts& facts,
                Diagnostics& diagnostics);
    ChunkCursor(const ChunkCursor&) = delete;
    ChunkCursor& operator=(const ChunkCursor&) = delete;

    // False at the end. time_ns is left to the caller, who knows where the trace starts.
    [[nodiscard]] bool next(Event& event);

  private:
    struct Slot {
        tracer::Record record;
        std::uint64_t index = 0; // in its chunk
        std::uint64_t offset_bytes = 0;
        bool compact = false; // out of a compact stream
    };

    [[nodiscard]] bool read_slot(Slot& slot);
    [[nodiscard]] bool read_compact_slot(Slot& slot);
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
    void take_rate(std::uint32_t khz, std::uint64_t offset_bytes);
    void check_user_event(Event& event);
    void note(const Event& event);
    void check_stamp(const Event& event);
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
    bool m_skip_chunk = false;
    bool m_finished = false;
    Names m_names; // what is known at this chunk: all earlier chunks', overlaid by its own
};

} // namespace host::trace
