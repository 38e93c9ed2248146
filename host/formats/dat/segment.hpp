// SPDX-License-Identifier: MIT
// Where the chunks are in a file. One file usually holds one chunk; a concatenation holds several; a plain S.Ha.R.K.
// file has no chunk_begin and is one segment. A S.Ha.R.K. cyclic chunk is stored in memory order: its time falls at
// exactly one slot, and the segment says where the oldest record is.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::formats::dat {

inline constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0}; // of a pipe

// Slots at any offset of a source, one by one: where chunks and damaged places are looked for, few slots are looked at
// twice, and those close to each other. The first read of a source brings a page: of most chunks of a session no more
// than the head is looked at.
class SlotWindow {
  public:
    SlotWindow() = default; // of nothing: begin() first

    // source outlives the window, or its use of it. end_bytes: no slot reaches beyond it.
    SlotWindow(trace::ByteSource& source, std::uint64_t end_bytes) { begin(source, end_bytes); }

    // Another source, in the same memory.
    void begin(trace::ByteSource& source, std::uint64_t end_bytes) {
        m_source = &source;
        m_end = end_bytes;
        m_begin = 0;
        m_filled = 0;
        m_failed = false;
        m_wanted = kFirstBytes;
    }

    [[nodiscard]] trace::ByteSource& source() const { return *m_source; }

    [[nodiscard]] std::uint64_t end_bytes() const { return m_end; }

    // Nothing beyond the end, or if the source cannot be read.
    [[nodiscard]] std::optional<tracer::Record> at(std::uint64_t offset) {
        if (offset + tracer::kRecordBytes > m_end) {
            return std::nullopt;
        }
        if (offset < m_begin || offset + tracer::kRecordBytes > m_begin + m_filled) {
            m_begin = offset - std::min(offset, kBackBytes);
            const auto wanted = static_cast<std::size_t>(
                std::min<std::uint64_t>(std::exchange(m_wanted, trace::ByteSource::kBufferBytes), m_end - m_begin));
            if (m_buffer.size() < wanted) {
                m_buffer.resize(wanted);
            }
            const auto count = m_source->read(m_begin, std::span(m_buffer).first(wanted));
            m_failed = m_failed || !count;
            m_filled = count ? count.value() : 0;
            if (offset + tracer::kRecordBytes > m_begin + m_filled) {
                return std::nullopt;
            }
        }
        return tracer::decode_record(std::span(m_buffer).subspan(offset - m_begin, tracer::kRecordBytes));
    }

    // What the window holds from this slot on, whole slots: after at() has returned it.
    [[nodiscard]] std::span<const std::byte> from(std::uint64_t offset) const {
        const std::span<const std::byte> held = std::span(m_buffer).first(m_filled).subspan(offset - m_begin);
        return held.first(held.size() / tracer::kRecordBytes * tracer::kRecordBytes);
    }

    [[nodiscard]] bool failed() const { return m_failed; }

  private:
    static constexpr std::uint64_t kBackBytes =
        64 * tracer::kRecordBytes; // kept before a slot: it may be looked at too

    static constexpr std::size_t kFirstBytes = 4096;

    trace::ByteSource* m_source = nullptr;
    std::uint64_t m_end = 0;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_begin = 0;
    std::size_t m_filled = 0;
    std::size_t m_wanted = kFirstBytes; // by the next read
    bool m_failed = false;
};

// A chunk that has lost or gained bytes, at one place or several: the records after each place are off their slots, and
// read from there they would make no sense. Between two places they are found again, wherever they begin. A chunk that
// was merely cut, has bytes after its last record, or slots that are no records in their places, is not one of these.
//
//      |  stretch  | place |  stretch  | place |  stretch  |          each stretch is whole slots; a place is left out
//
// Slots in a row, none of which is off its place.
struct Stretch {
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0; // of the last one of a file that was cut, some bytes after its last slot
    std::uint64_t index = 0;     // of the first slot in the chunk: exact if all places lost bytes, or all gained some
    std::optional<std::uint64_t> place_bytes{}; // where the place before it begins; none: there is none
};

// What the header of a chunk announces, in slots.
struct Announced {
    std::uint64_t preamble = 0;
    std::uint64_t records = 0;
};

// Stamps of one chunk are close to each other: some hours.
inline constexpr std::uint64_t kStampsApartMax = std::uint64_t{1} << 45;

// By what a slot shows: its code is known, and its stamp close to this one.
[[nodiscard]] bool looks_like_a_record(const tracer::Record& record, lib::Ticks near);

// The stretches of the chunk that begins at begin_bytes, up to end_bytes or the next chunk. The first begins there, the
// last one ends there, and either may be empty. Nothing if no place has lost or gained bytes, or if the source cannot
// be read. Found are stretches of eight records or more, two or more at the end; of each, the first and the last record
// (a long event is one) are left out where they may have lost bytes that nothing shows.
[[nodiscard]] std::vector<Stretch> find_stretches(trace::ByteSource& source, std::uint64_t begin_bytes,
                                                  std::uint64_t end_bytes, std::optional<Announced> announced);

// What no two chunks have in common.
struct ChunkKey {
    std::uint64_t boot_id = 0;
    std::uint16_t cpu = 0;
    std::uint16_t chunk = 0;
    std::uint32_t generation = 0;

    friend auto operator<=>(const ChunkKey&, const ChunkKey&) = default;
};

struct Segment {
    std::string path;
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = kToTheEnd;
    std::uint64_t oldest_bytes = 0;              // where to start reading, if not at begin_bytes; 0: there
    std::vector<Stretch> stretches{};            // between the places that lost or gained bytes; none: all is one
    std::uint64_t preamble_slots = 0;            // left of a preamble whose header was lost; records follow it
    std::shared_ptr<trace::ByteSource> source{}; // null: opened by its path when its turn comes
    std::size_t buffer_bytes = trace::ByteSource::kBufferBytes; // of the reader of its slots, at most
    std::optional<ChunkKey> key{};                              // as its header says
    std::size_t order = 0;                                      // in the input
    bool damaged = false;                                       // the manifest's checksum of the file is another
    bool followed = false;                                      // a pipe of parts of chunks
    bool holes_listed = false; // the manifest lists lost slots of it, and its checksum is right
    lib::Ticks first_stamp{};  // of the first record that is no metadata, as far as the file can be believed
};

// With which the file begins; nothing if that is no chunk that describes itself.
[[nodiscard]] std::optional<tracer::ChunkBegin> header_of(SlotWindow& window);

// Appends the segments of a seekable file, which the window has looked at up to its header at most. header: header_of()
// it. Reports E-EMPTY, E-TRUNC, E-IO; damage inside chunks is for the reader of the chunk to report.
void index_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                std::vector<Segment>& segments, trace::Diagnostics& diagnostics);

// Null if its file cannot be opened (any more).
[[nodiscard]] std::shared_ptr<trace::ByteSource> source_of(const Segment& segment);

// Keeps the first of several chunks of one number: W-DUP if another is the same byte by byte, E-CONFLICT if it is not.
// Each is compared with the first.
void drop_duplicates(std::vector<Segment>& segments, trace::Diagnostics& diagnostics);

} // namespace host::formats::dat
