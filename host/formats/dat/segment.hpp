// SPDX-License-Identifier: MIT
// Finds the places of chunks in a file. A file usually holds one chunk; a concatenation holds several; a plain
// S.Ha.R.K. file has no chunk_begin and is one segment. A S.Ha.R.K. cyclic chunk is stored in memory order: its stamps
// decrease at exactly one slot, and the segment says where the oldest record is.
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

// Reads slots at any offset of a source, one by one. A search for chunks and damaged places reads few slots twice, and
// those are close to each other. The first read of a place brings a page, because of most chunks only the header is
// examined; reads that continue bring more and more.
class SlotWindow {
  public:
    SlotWindow() = default; // has no source: call begin() first

    // source must outlive the window, or its use of it. end_bytes: no slot extends beyond it.
    SlotWindow(trace::ByteSource& source, std::uint64_t end_bytes) { begin(source, end_bytes); }

    // Begins another source, in the same memory.
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

    // Returns nothing beyond the end, or if the source cannot be read.
    [[nodiscard]] std::optional<tracer::Record> at(std::uint64_t offset) {
        if (offset + tracer::kRecordBytes > m_end) {
            return std::nullopt;
        }
        if (offset < m_begin || offset + tracer::kRecordBytes > m_begin + m_filled) {
            const bool continues = offset >= m_begin && offset <= m_begin + m_filled && m_filled != 0;
            m_wanted = continues ? std::min(2 * m_wanted, trace::ByteSource::kBufferBytes) : kFirstBytes;
            m_begin = offset - std::min(offset, kBackBytes);
            const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(m_wanted, m_end - m_begin));
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

    // Returns the whole slots that the window holds from this one on. Must be called after at() has returned it.
    [[nodiscard]] std::span<const std::byte> from(std::uint64_t offset) const {
        const std::span<const std::byte> held = std::span(m_buffer).first(m_filled).subspan(offset - m_begin);
        return held.first(held.size() / tracer::kRecordBytes * tracer::kRecordBytes);
    }

    [[nodiscard]] bool failed() const { return m_failed; }

  private:
    static constexpr std::uint64_t kBackBytes =
        64 * tracer::kRecordBytes; // bytes that are kept before a slot, because they may be read again

    static constexpr std::size_t kFirstBytes = 4096;

    trace::ByteSource* m_source = nullptr;
    std::uint64_t m_end = 0;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_begin = 0;
    std::size_t m_filled = 0;
    std::size_t m_wanted = kFirstBytes; // bytes wanted by the next read
    bool m_failed = false;
};

// A chunk may have lost or gained bytes at one place or several: the records after each place are off their slots, and
// make no sense if they are read from the slots. Between two places they are found again, wherever they begin. A chunk
// that was merely cut, that has bytes after its last record, or slots in their places that are not records, is not one
// of these.
//
//      |  stretch  | place |  stretch  | place |  stretch  |          each stretch is whole slots; a place is left out
//
// Adjacent slots, none of which is off its place.
struct Stretch {
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0; // if it is the last of a cut file, some bytes after its last slot
    std::uint64_t index = 0; // index of the first slot in the chunk: exact if all places lost bytes, or all gained some
    std::optional<std::uint64_t> place_bytes{}; // offset of the place before it, if there is one
};

// Holds what the header of a chunk announces, in slots.
struct Announced {
    std::uint64_t preamble = 0;
    std::uint64_t records = 0;
};

// Stamps of one chunk differ by less than this, some hours.
inline constexpr std::uint64_t kStampsApartMax = std::uint64_t{1} << 45;

// Returns whether a slot looks like a record: its code is known, and its stamp is close to this one.
[[nodiscard]] bool looks_like_a_record(const tracer::Record& record, lib::Ticks near);

// What a search for places that have lost or gained bytes has found.
struct FoundStretches {
    std::vector<Stretch> stretches; // none if there is no such place, or if the source cannot be read
    std::uint64_t end_bytes = 0;    // where the search ended: the end, or the next chunk whose header can be read
};

// Returns the stretches of the chunk that begins at begin_bytes, up to end_bytes or the next chunk. The first begins
// there, the last one ends there, and either may be empty. Stretches of eight records or more are found, at the end of
// two or more. The first and the last record of each (a long event is one) are left out if they may have lost bytes
// without a sign of it.
[[nodiscard]] FoundStretches find_stretches(trace::ByteSource& source, std::uint64_t begin_bytes,
                                            std::uint64_t end_bytes, std::optional<Announced> announced);

// No two chunks have the same key.
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
    std::uint64_t oldest_bytes = 0;   // where reading starts; 0: at begin_bytes
    std::vector<Stretch> stretches{}; // between the places that lost or gained bytes; none: the segment is one stretch
    std::uint64_t preamble_slots = 0; // slots that are left of a preamble whose header was lost; records follow
    std::shared_ptr<trace::ByteSource> source{};                // null: opened by its path when its turn comes
    std::size_t buffer_bytes = trace::ByteSource::kBufferBytes; // greatest buffer of the reader of its slots
    std::optional<ChunkKey> key{};                              // from its header
    std::size_t order = 0;                                      // position in the input
    bool damaged = false;                                       // the checksum of the file differs from the manifest's
    bool followed = false;                                      // the segment is a pipe of parts of chunks
    bool holes_listed = false; // the manifest lists lost slots of it, and its checksum is right
    bool is_whole = false;     // it is as long as its header says, and its place in time is certain
    lib::Ticks first_stamp{};  // of the first record that is not metadata, if the file can be trusted
};

// Returns the header with which the file begins; nothing if the file does not begin with a chunk that describes itself.
[[nodiscard]] std::optional<tracer::ChunkBegin> header_of(SlotWindow& window);

// Appends the segments of a seekable file, of which the window has read at most the header. header: header_of() the
// window. Reports E-EMPTY, E-TRUNC, E-IO; damage inside chunks is reported by the reader of the chunk.
void index_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                std::vector<Segment>& segments, trace::Diagnostics& diagnostics);

// Returns null if its file cannot be opened (any more).
[[nodiscard]] std::shared_ptr<trace::ByteSource> source_of(const Segment& segment);

} // namespace host::formats::dat
