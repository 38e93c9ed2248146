// SPDX-License-Identifier: MIT
// Reads the 16-byte slots of a segment in the order in which they were written: from the oldest one if a cyclic chunk
// is stored in memory order, stretch by stretch if bytes were lost or added, and the records of a compact stream in
// place of its slots. It knows nothing of events. Memory is one buffer for any size of the input; a compact stream also
// needs its decoder's state and a window of a few kilobytes. Pipes are read, too.
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

// The checksum of a chunk, as its chunk_begin states it (docs/trace-format.md, section 3), is over all bytes of the
// chunk as the machine sent them, with the four bytes of the checksum itself taken as zeros. Checksums in chunks are
// computed and compared only here.
class ChunkSum {
  public:
    // Adds the slots of a chunk_begin. payload: that of these slots together, padding included; stamp: theirs;
    // other_bits: the bits of their codes that no machine sets.
    ChunkSum(std::span<const std::byte> payload, lib::Ticks stamp, std::uint16_t other_bits);

    // Adds the bytes of the chunk that follow those added before.
    void add(std::span<const std::byte> bytes);

    [[nodiscard]] std::uint32_t value() const { return m_value; }

  private:
    std::uint32_t m_value = 0;
};

// States what the bytes of a chunk show.
enum class ChunkBytes : std::uint8_t {
    whole,   // the checksum is right
    holed,   // it is wrong, and there are empty slots in place of lost ones
    damaged, // it is wrong
    unread,  // bytes are missing or cannot be read
};

// Adds the bytes after the chunk_begin, up to size_bytes, to its sum and compares the sum. held: the first of these
// bytes, if they are in memory already.
[[nodiscard]] ChunkBytes check_bytes(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t size_bytes,
                                     ChunkSum sum, std::uint32_t stated, std::span<const std::byte> held = {});

// Returns whether a compact stream has the checksum that its header states. Returns true also if it is not sealed, or
// is cut before its end, which its decoder reports. Reads it once, in pieces.
[[nodiscard]] bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes,
                                          std::uint64_t stream_bytes);

// A buffer that is not cleared. The reader of a chunk leaves it to the next one: a session may have many thousands of
// small chunks, and allocating and clearing buffers costs more than reading the chunks.
class SlotBuffer {
  public:
    // Makes the buffer hold at least so many bytes. Its contents are lost if it must grow.
    void reserve(std::size_t bytes) {
        if (m_bytes == nullptr || m_size < bytes) { // a buffer that was moved from has no bytes
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
    // scope must outlive the slots. source: null if the segment's file is opened for each read. memory: what an earlier
    // reader left, if any.
    ChunkSlots(ChunkScope& scope, std::shared_ptr<trace::ByteSource> source, SlotBuffer memory);
    ChunkSlots(const ChunkSlots&) = delete;
    ChunkSlots& operator=(const ChunkSlots&) = delete;
    ~ChunkSlots();

    // Returns the memory; the reader must not be used afterwards.
    [[nodiscard]] SlotBuffer take_memory() { return std::move(m_memory); }

    // Returns false at the end. is_skipped: the chunk is given up, so a compact stream in it is not decoded. Reports
    // W-TAIL, W-BCRC, E-COMPACT, and counts the slots of a compact stream.
    [[nodiscard]] bool next(Slot& slot, bool is_skipped);

    // Begins a new chunk, whose first slot is the one that next() returned last.
    void restart(Slot& slot);

    // Returns how many slots of the chunk were taken so far.
    [[nodiscard]] std::uint64_t slots_taken() const { return m_next_index; }

    // Returns the whole slots in the buffer, which next() would take; skip() takes them. Only for plain records.
    [[nodiscard]] std::span<const std::byte> buffered() const {
        return m_buffer.subspan(m_position, (m_filled - m_position) / tracer::kRecordBytes * tracer::kRecordBytes);
    }

    void skip(std::size_t slots) {
        m_position += slots * tracer::kRecordBytes;
        m_next_index += slots;
    }

    // Returns the slot that next() would take; nothing at the end, or if the slot of a pipe has not arrived. Only for
    // plain records.
    [[nodiscard]] std::optional<tracer::Record> peek();

    // Returns the offset of the next slot in the file.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_buffer_offset + m_position; }

    // Returns whether the source is not a pipe.
    [[nodiscard]] bool is_seekable() const { return m_source == nullptr || m_source->seekable(); }

    // Returns the first record of this code among those that follow; nothing is taken or reported. Returns nothing on a
    // pipe, or if there is none. Not for a compact chunk.
    [[nodiscard]] std::optional<tracer::Record> look_ahead(std::uint8_t code) const;

    // Compares the checksum of a chunk of which size_bytes follow the slots in `sum`. The bytes of a file are compared
    // now, before any of its records is used: W-CRC is reported and the chunk is marked. The bytes of a pipe are
    // compared by finish_sum().
    void check_sum(const ChunkSum& sum, std::uint32_t stated, std::uint64_t size_bytes);

    // Must be called when the chunk has ended and its counts are not yet finished.
    void finish_sum();

    // Must be called after next() has returned false: reports E-IO if reading failed, W-TAIL if bytes are left.
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
    std::vector<Stretch> m_stretches;            // in the order of reading; a rotated chunk has two
    std::size_t m_stretch = 0;                   // index of the one that is being read
    std::uint64_t m_end = 0;                     // end of that stretch
    SlotBuffer m_memory;
    std::span<std::byte> m_buffer;     // the part of the memory that is used
    std::uint64_t m_buffer_offset = 0; // offset of the buffer's first byte in the file
    std::size_t m_position = 0;        // of the next slot in the buffer
    std::size_t m_filled = 0;
    bool m_failed = false;
    bool m_shrunk = false; // the file ended before m_end, because it was cut after its size was read
    std::uint64_t m_next_index = 0;
    std::optional<ChunkSum> m_sum; // sum of what is taken from a pipe
    std::uint64_t m_summed_to = 0; // offset in the source
    std::uint64_t m_sum_end = 0;
    std::uint32_t m_stated_sum = 0;
    std::unique_ptr<Stream> m_stream; // null outside of a compact stream
};

} // namespace host::formats::dat
