// SPDX-License-Identifier: MIT
// Copies the records of one chunk from a memory that may be changing. What the machine overwrites during the copy is
// detected and never returned: the head is read, then the records, then the head again, and only what both heads
// confirm is used.
//
//   head A, records, head B     same lap:   older part from B's scratch on, newer part up to A's position
//                               next lap:   A's newer part from B's scratch on
//                               further, or another use: again, a bounded number of times
#pragma once

#include "host/formats/memory/black_box.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::formats::memory {

// Is the position up to which a chunk was copied.
struct ChunkPlace {
    std::uint32_t uses = 0; // 0: not at all
    std::uint64_t word = 0; // word of the chunk: if it is unchanged, nothing is new
    std::uint64_t end_bytes =
        0; // in the bytes ever written to the main area; of a compact chunk: in the decoded records
    std::size_t emergency_end = 0; // position in the emergency area
    std::uint64_t last_stamp = 0;  // of the records copied so far

    [[nodiscard]] std::uint64_t records() const { return (end_bytes + emergency_end) / tracer::kRecordBytes; }

    friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

// Copied records in time order. Each is verified: it has a known code, and a stamp that is not less than the one before
// it.
struct ChunkCopy {
    ChunkHead head;
    ChunkPlace place;                 // the copy ends here
    std::vector<std::byte> records{}; // of the main area, or its compact stream, padded to 16 bytes
    std::vector<std::byte> emergency{};
    bool compact = false;
    std::uint8_t layout = 0;           // of the stream
    std::uint32_t stream_bytes = 0;    // without padding
    std::uint64_t stream_records = 0;  // that it decodes to
    std::uint64_t lost = 0;            // records after `from` that were overwritten before they could be copied
    std::uint64_t missing = 0;         // records before the first that are lost: a hole in the trace
    std::optional<lib::Ticks> stamp{}; // of the first record, if there is one

    [[nodiscard]] std::uint64_t events() const {
        return (compact ? stream_records : records.size() / tracer::kRecordBytes) +
               emergency.size() / tracer::kRecordBytes;
    }
};

enum class Streams : std::uint8_t {
    kept,   // a compact stream is copied as it is
    decoded // into records
};

class ChunkCopier {
  public:
    static constexpr int kTriesMax = 16;

    // box must outlive the copier. meanwhile: is called after a head was read, before the records; a test changes the
    // memory there.
    explicit ChunkCopier(const BlackBox& box, std::function<void()> meanwhile = {})
        : m_box(box)
        , m_meanwhile(std::move(meanwhile)) {}

    ChunkCopier(const ChunkCopier&) = delete;
    ChunkCopier& operator=(const ChunkCopier&) = delete;

    // Copies what the chunk of this number has after `from`; `out` keeps its memory for the next copy. Returns false if
    // there is no such chunk. The refusal says what is invalid. Precondition: index < entries of the table.
    [[nodiscard]] lib::Result<bool, trace::Refusal> copy(std::uint32_t index, const ChunkPlace& from, Streams streams,
                                                         ChunkCopy& out);

  private:
    enum class Outcome : std::uint8_t { copied, overtaken, refused };

    [[nodiscard]] Outcome copy_once(const ChunkHead& head, ChunkPlace from, Streams streams, ChunkCopy& out);
    [[nodiscard]] Outcome copy_plain(const ChunkHead& head, std::uint64_t from_bytes, ChunkCopy& out);
    [[nodiscard]] Outcome copy_stream(const ChunkHead& head, std::uint64_t from_bytes, Streams streams, ChunkCopy& out);
    [[nodiscard]] std::optional<ChunkHead> head_again(const ChunkHead& head);
    [[nodiscard]] Outcome verify(ChunkCopy& out);
    [[nodiscard]] Outcome refuse(std::string text);

    const BlackBox& m_box;
    std::function<void()> m_meanwhile;
    std::vector<std::byte> m_stream; // a stream that is being decoded
    std::string m_why;
};

// Converts a chunk that was copied from memory to what the machine would have exported: the preamble, which the same
// code writes, and the records. So the reader of exported chunks can read it.
class ChunkImage {
  public:
    // box must outlive this object.
    explicit ChunkImage(const BlackBox& box)
        : m_box(box) {}

    ChunkImage(const ChunkImage&) = delete;
    ChunkImage& operator=(const ChunkImage&) = delete;

    // Reads the names and declarations that the memory has now. Must be called after the copy that they explain.
    void refresh();

    // Returns the preamble of a copy that has records or misses some; valid until the next call. Missing records are
    // announced, and empty slots take their place: as many in a whole chunk, one in a part, because a pipe may end a
    // chunk early. A preamble of a part (not `whole`) has only the entries after those that earlier calls wrote, and
    // its generation counts the parts. Precondition: a copy that misses records is not compact.
    [[nodiscard]] std::span<const std::byte> preamble(const ChunkCopy& copy, bool whole);

    // Returns the beginning of a preamble with a boot id that differs from that of the memory, so that its reader knows
    // that the machine was restarted. Valid until the next call.
    [[nodiscard]] std::span<const std::byte> of_another_run();

    // Returns what is wrong with the tables of names; empty if nothing is.
    [[nodiscard]] const std::string& fault() const { return m_fault; }

  private:
    const BlackBox& m_box;
    std::vector<tracer::NameEntry> m_names;
    std::vector<tracer::EncodedDeclaration> m_declarations;
    std::vector<std::byte> m_formats;
    std::size_t m_names_written = 0;
    std::size_t m_declarations_written = 0;
    std::uint32_t m_parts = 0;
    bool m_begun = false;
    bool m_other_run = false;
    std::string m_fault;
    std::vector<std::byte> m_buffer;
};

} // namespace host::formats::memory
