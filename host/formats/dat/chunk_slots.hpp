// SPDX-License-Identifier: MIT
// The 16-byte slots of a segment in the order in which they were written: from the oldest one on where a cyclic chunk
// is stored in memory order, stretch by stretch where bytes were lost or added, and the records of a compact stream in
// place of its slots. It knows nothing of events. Memory is one buffer, whatever the size of the input; a compact
// stream needs its decoder's state and a window of a few kilobytes in addition. Pipes are read, too.
#pragma once

#include "host/formats/dat/chunk_ledger.hpp"
#include "host/formats/dat/segment.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::formats::dat {

// The one place on the host where checksums in a chunk are computed and compared. That of the chunk, as its chunk_begin
// states it (docs/trace-format.md, section 3), is over all bytes of the chunk as the machine sent them, the four of the
// checksum itself taken as zeros.

class ChunkSum {
  public:
    // Takes the slots of a chunk_begin. payload: of these slots together, padding included; stamp: theirs; other_bits:
    // of their codes, those that no machine sets.
    ChunkSum(std::span<const std::byte> payload, lib::Ticks stamp, std::uint16_t other_bits);

    // Bytes of the chunk that follow those taken before.
    void add(std::span<const std::byte> bytes);

    [[nodiscard]] std::uint32_t value() const { return m_value; }

  private:
    std::uint32_t m_value = 0;
};

// What the bytes of a chunk show.
enum class ChunkBytes : std::uint8_t {
    whole,   // the checksum is right
    holed,   // it is wrong, and slots are empty: lost on the way, their places kept
    damaged, // it is wrong
    unread,  // not all bytes are there, or they cannot be read
};

// Adds the bytes after the chunk_begin, up to size_bytes, to its sum and compares. held: those of them that are in
// memory already, from the first on.
[[nodiscard]] ChunkBytes check_bytes(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t size_bytes,
                                     ChunkSum sum, std::uint32_t stated, std::span<const std::byte> held = {});

// Whether a compact stream has the checksum that its header states, or is not sealed, or is cut before its end (then
// its decoder reports where). Reads it once, in pieces.
[[nodiscard]] bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes,
                                          std::uint64_t stream_bytes);

// Bytes that are not cleared. The reader of a chunk leaves them to the next one: a session may have many thousands of
// small chunks, and to allocate and clear buffers costs more than to read what is in them.
class SlotBuffer {
  public:
    // At least so many bytes. What the buffer held is lost if it must grow.
    void reserve(std::size_t bytes) {
        if (m_bytes == nullptr || m_size < bytes) { // one that was moved from has no bytes
            m_bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
            m_size = bytes;
        }
    }

    [[nodiscard]] std::span<std::byte> first(std::size_t bytes) const {
        return std::span(m_bytes.get(), m_size).first(bytes);
    }

  private:
    std::unique_ptr<std::byte[]> m_bytes;
    std::size_t m_size = 0;
};

class ChunkSlots {
  public:
    // scope outlives the slots. source: null if the segment's file is to be opened for each read. memory: what an
    // earlier reader left, if any.
    ChunkSlots(ChunkScope& scope, std::shared_ptr<trace::ByteSource> source, SlotBuffer memory);
    ChunkSlots(const ChunkSlots&) = delete;
    ChunkSlots& operator=(const ChunkSlots&) = delete;
    ~ChunkSlots();

    // Returns the memory; nothing may be read afterwards.
    [[nodiscard]] SlotBuffer take_memory() { return std::move(m_memory); }

    // False at the end. is_skipped: the chunk is given up, so a compact stream in it is not decoded. Reports W-TAIL,
    // W-BCRC, E-COMPACT, and counts the slots of a compact stream.
    [[nodiscard]] bool next(Slot& slot, bool is_skipped);

    // The slot that next() returned last is the first one of a new chunk.
    void restart(Slot& slot);

    // How many slots of the chunk were taken so far.
    [[nodiscard]] std::uint64_t slots_taken() const { return m_next_index; }

    // The whole slots in the buffer, which next() would take; skip() takes them. For plain records alone.
    [[nodiscard]] std::span<const std::byte> buffered() const {
        return m_buffer.subspan(m_position, (m_filled - m_position) / tracer::kRecordBytes * tracer::kRecordBytes);
    }

    void skip(std::size_t slots) {
        m_position += slots * tracer::kRecordBytes;
        m_next_index += slots;
    }

    // The slot that next() would take. Nothing at the end, nor on a pipe where it is still to come. For plain records
    // alone.
    [[nodiscard]] std::optional<tracer::Record> peek();

    // Where the next slot is in the file.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_buffer_offset + m_position; }

    // The source is no pipe.
    [[nodiscard]] bool is_seekable() const { return m_source == nullptr || m_source->seekable(); }

    // The first record of this code among those that follow, unchanged: nothing is taken or reported. Nothing on a
    // pipe, or if there is none. Not in a compact chunk.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // size_bytes of the chunk follow the slots that its sum has taken. Those of a file are compared now, before any of
    // its records is used: W-CRC is reported and the chunk marked. Those of a pipe are compared by finish_sum().
    void check_sum(const ChunkSum& sum, std::uint32_t stated, std::uint64_t size_bytes);

    // The chunk has ended, and its counts are not yet finished.
    void finish_sum();

    // After next() was false: reports E-IO if reading failed, W-TAIL if bytes are left.
    void report_end();

  private:
    struct Stream;

    void begin_stretch(std::uint64_t begin_bytes, std::uint64_t end_bytes);
    [[nodiscard]] bool begin_next_stretch();
    [[nodiscard]] bool take(tracer::Record& record);
    [[nodiscard]] bool refill();
    [[nodiscard]] lib::Result<std::size_t> read(std::uint64_t offset_bytes, std::span<std::byte> out);
    void add_to_sum();
    void realign(trace::ByteSource& source);

    [[nodiscard]] bool next_of_stream(Slot& slot);
    [[nodiscard]] bool is_stream_sound();
    [[nodiscard]] bool decode_more();
    [[nodiscard]] bool take_into_window();
    void skip_stream();
    void report_fault();

    void report_tail();
    void report_sum();

    ChunkScope& m_scope;
    std::shared_ptr<trace::ByteSource> m_source; // null: the file is opened for each read, and no descriptor is held
    std::vector<Stretch> m_stretches;            // in the order in which they are read: a rotated chunk has two
    std::size_t m_stretch = 0;                   // that is read
    std::uint64_t m_end = 0;                     // where it ends
    SlotBuffer m_memory;
    std::span<std::byte> m_buffer;     // what is used of the memory
    std::uint64_t m_buffer_offset = 0; // where the buffer's first byte is in the file
    std::size_t m_position = 0;        // of the next slot in the buffer
    std::size_t m_filled = 0;
    bool m_failed = false;
    bool m_shrunk = false; // the file ended before m_end: it was cut after its size was read
    std::uint64_t m_next_index = 0;
    std::optional<ChunkSum> m_sum; // of what is taken from a pipe
    std::uint64_t m_summed_to = 0; // offset in the source
    std::uint64_t m_sum_end = 0;
    std::uint32_t m_stated_sum = 0;
    std::unique_ptr<Stream> m_stream; // while inside a compact stream
};

} // namespace host::formats::dat
