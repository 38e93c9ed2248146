// SPDX-License-Identifier: MIT
// Copies the records of one chunk out of a memory that may be changing. What the machine overwrote during the copy is
// detected and never returned: the head is read, then the records, then the head again, and only what both heads vouch
// for counts.
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

// How far a chunk was copied before.
struct ChunkPlace {
    std::uint32_t uses = 0;        // 0: not at all
    std::uint64_t word = 0;        // of the chunk: unchanged, nothing has come
    std::uint64_t end_bytes = 0;   // of the bytes ever written to the main area; of a compact chunk, of decoded records
    std::size_t emergency_end = 0; // of the emergency area
    std::uint64_t last_stamp = 0;  // of the records so far

    [[nodiscard]] std::uint64_t records() const { return (end_bytes + emergency_end) / tracer::kRecordBytes; }

    friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

// Records in time order, each verified: of a known code, no stamp less than the one before it.
struct ChunkCopy {
    ChunkHead head;
    ChunkPlace place;                 // up to here
    std::vector<std::byte> records{}; // of the main area, or its compact stream, padded to 16 bytes
    std::vector<std::byte> emergency{};
    bool compact = false;
    std::uint8_t layout = 0;           // of the stream
    std::uint32_t stream_bytes = 0;    // without padding
    std::uint64_t stream_records = 0;  // that it decodes to
    std::uint64_t lost = 0;            // records after `from` that were overwritten before they could be copied
    std::uint64_t missing = 0;         // records before the first that are lost: a hole in the trace
    std::optional<lib::Ticks> stamp{}; // of the first record; none: there is none

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

    // box outlives the copier. meanwhile: called after a head was read, before the records; a test changes the memory
    // there.
    explicit ChunkCopier(const BlackBox& box, std::function<void()> meanwhile = {})
        : m_box(box)
        , m_meanwhile(std::move(meanwhile)) {}

    ChunkCopier(const ChunkCopier&) = delete;
    ChunkCopier& operator=(const ChunkCopier&) = delete;

    // What the chunk of this number has after `from`; `out` keeps its memory for the next copy. False if there is no
    // such chunk. The refusal says what does not hold. Precondition: index < entries of the table.
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
    std::vector<std::byte> m_stream; // that is decoded
    std::string m_why;
};

// Makes of a chunk that was copied out of memory what the machine would have exported: the preamble, written by the
// same code, and the records. So the reader of exported chunks reads it.
class ChunkImage {
  public:
    // box outlives it.
    explicit ChunkImage(const BlackBox& box)
        : m_box(box) {}

    ChunkImage(const ChunkImage&) = delete;
    ChunkImage& operator=(const ChunkImage&) = delete;

    // Reads the names and declarations that the memory holds now. Must be called after the copy that they explain.
    void refresh();

    // The preamble of a copy that has records or misses some; valid until the next call. What is missing is announced,
    // and empty slots are in its place: of a whole chunk as many, of a part one, because a pipe may end a chunk early.
    // Precondition: a copy that misses records is not compact. Unless `whole`, of a copy that is a part of
    // its chunk: only entries after those that earlier calls wrote, and a generation that counts the parts.
    [[nodiscard]] std::span<const std::byte> preamble(const ChunkCopy& copy, bool whole);

    // The beginning of a preamble, with another boot id than that of the memory: its reader knows that the machine was
    // started anew. Valid until the next call.
    [[nodiscard]] std::span<const std::byte> of_another_run();

    // What is wrong with the tables of names; empty if nothing is.
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
