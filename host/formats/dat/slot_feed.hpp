// SPDX-License-Identifier: MIT
// The slots of a segment in the order in which they were written: from the oldest one on where a cyclic chunk is stored
// in memory order, and the records of a compact stream in place of its slots. It knows nothing of events.
#pragma once

#include "host/formats/dat/chunk_scope.hpp"
#include "host/formats/dat/compact_slots.hpp"
#include "host/formats/dat/slot_reader.hpp"
#include "tracer/record/record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace host::formats::dat {

struct Slot {
    tracer::Record record;
    std::uint64_t index = 0; // in its chunk
    std::uint64_t offset_bytes = 0;
    bool compact = false; // out of a compact stream
};

class SlotFeed {
  public:
    // scope outlives the feed. source: null if the segment's file is to be opened for each read.
    SlotFeed(ChunkScope& scope, std::shared_ptr<trace::ByteSource> source, SlotBuffer memory);

    // Nothing may be read any more.
    [[nodiscard]] SlotBuffer take_memory() { return m_reader.take_memory(); }

    // False at the end. is_skipped: the chunk is given up, so a compact stream in it is not decoded. Reports W-TAIL,
    // W-BCRC, E-COMPACT, and counts the slots of a compact stream.
    [[nodiscard]] bool next(Slot& slot, bool is_skipped);

    // The slot that next() returned last is the first one of a new chunk.
    void restart(Slot& slot);

    // Of the chunk, taken so far.
    [[nodiscard]] std::uint64_t slots_taken() const { return m_next_index; }

    // The slots that next() would take, as far as they are in memory. For plain records alone.
    [[nodiscard]] std::span<const std::byte> buffered() const { return m_reader.buffered(); }

    // The next slot, as far as it is known. For plain records alone.
    [[nodiscard]] std::optional<tracer::Record> peek() { return m_reader.peek(); }

    // Takes buffered slots.
    void skip(std::size_t slots) {
        m_reader.skip(slots);
        m_next_index += slots;
    }

    // Of the next slot, in the file.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_reader.offset_bytes(); }

    [[nodiscard]] bool is_seekable() const { return m_reader.is_seekable(); }

    // The first record of this code among those that follow, unchanged: nothing is taken or reported. Nothing on a
    // pipe, or if there is none. Not in a compact chunk.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // So many bytes of the chunk follow the slots that its sum has taken. Of a file they are compared now: it reports
    // W-CRC and marks the chunk. Of a pipe when they have come: at finish_sum().
    void check_sum(const ChunkSum& sum, std::uint32_t stated, std::uint64_t size_bytes);

    // The chunk has ended, its counts are not yet finished.
    void finish_sum();

    // After next() was false: E-IO if reading failed, W-TAIL if bytes are left.
    void report_end();

  private:
    [[nodiscard]] bool next_compact(Slot& slot);
    [[nodiscard]] bool begin_compact(std::uint64_t offset_bytes);
    void report_fault();
    void report_tail();
    [[nodiscard]] bool begin_next_stretch();
    void realign(trace::ByteSource& source);
    void report_sum();

    ChunkScope& m_scope;
    SlotSource m_source;
    std::vector<Stretch> m_stretches; // in the order in which they are read: a rotated chunk has two
    std::size_t m_stretch = 0;        // that is read
    SlotReader m_reader;
    std::uint64_t m_next_index = 0;
    std::uint32_t m_stated_sum = 0;          // of a pipe
    std::unique_ptr<CompactSlots> m_compact; // while inside a compact stream
};

} // namespace host::formats::dat
