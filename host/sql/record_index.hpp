// SPDX-License-Identifier: MIT
// Where the chunks of a trace of records are, so that a query for a range of time reads only what it needs. Stamps
// never fall within a chunk's main area, so a stamp is found by halving; the emergency area, whose records may be older
// than the last ones of the main area, is recognised by its events and kept apart. A chunk with another layout
// (compact, without a head, cut, stamps that fall) is read whole, and so is one of another run than the first, or with
// a wrong checksum: the reader of everything reports it.
//
// Whether stamps fall is not known without reading every record. Only each kStride-th one is checked, and those that a
// search meets; a single falling stamp between them is not seen until a query reads there.
#pragma once

#include "host/formats/dat/segment.hpp"
#include "host/sql/scan.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::sql {

struct IndexedChunk {
    formats::dat::Segment segment;
    std::uint32_t tsc_khz = 0; // 0: it does not say
    bool searchable = false;   // what follows is only set if it is
    std::uint16_t cpu = 0;
    std::uint64_t main_bytes = 0;      // where the main area begins
    std::uint64_t emergency_bytes = 0; // where it ends
    std::uint64_t first_stamp = 0;     // of the main area
    std::uint64_t last_stamp = 0;
    bool empty = false;        // no record in the main area
    bool sum_compared = false; // its checksum, if it states one
};

// A part of a chunk's main area.
struct Window {
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0;
};

class RecordIndex {
  public:
    static constexpr std::uint64_t kStride = 4096; // records

    // Sources that can be positioned; without bytes, a source is the file of its name, and is open only while it is
    // looked at: a session may have more files than a process may hold open. A chunk that is there twice counts once.
    // Reports E-EMPTY, E-TRUNC, E-IO, W-DUP, E-CONFLICT.
    RecordIndex(std::span<const trace::NamedSource> sources, trace::Diagnostics& diagnostics, Statistics& statistics);

    // The segments of a session, in the order of their first stamps and without duplicates.
    RecordIndex(std::vector<formats::dat::Segment> segments, Statistics& statistics);

    // In the order of their first stamps.
    [[nodiscard]] const std::vector<IndexedChunk>& chunks() const { return m_chunks; }

    // Of all sources together.
    [[nodiscard]] std::uint64_t size_bytes() const { return m_bytes; }

    // Every chunk says when it began and how fast its clock runs, so a range of time is a range of stamps.
    [[nodiscard]] bool all_described() const { return m_all_described; }

    // The least stamp of the trace.
    [[nodiscard]] std::uint64_t start_ticks() const {
        return m_chunks.empty() ? 0 : m_chunks.front().segment.first_stamp.value;
    }

    // Whether a searchable chunk's bytes are those that its checksum was computed of; reads all of them the first time.
    // If they are not, or slots were lost on the way, the chunk is searchable no more. number: in chunks().
    [[nodiscard]] bool is_intact(std::size_t number, trace::ByteSource& source, Statistics& statistics);

    // The records of a searchable chunk's main area whose stamps are in the range. Nothing if the stamps that were met
    // contradict each other, or the file cannot be read: then the chunk must be read whole.
    [[nodiscard]] static std::optional<Window> find(const IndexedChunk& chunk, trace::ByteSource& source,
                                                    const TickRange& range, Statistics& statistics);

  private:
    void add(std::vector<formats::dat::Segment> segments, Statistics& statistics);

    std::vector<IndexedChunk> m_chunks;
    std::uint64_t m_bytes = 0;
    bool m_all_described = true;
};

} // namespace host::sql
