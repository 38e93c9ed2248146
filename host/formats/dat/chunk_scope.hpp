// SPDX-License-Identifier: MIT
// The chunk image that is being read: its report among the facts of the trace, and diagnostics that name its place.
// What the parts of the reader of a chunk have in common.
#pragma once

#include "host/formats/dat/chunk_parts.hpp"
#include "host/formats/dat/segment.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace host::formats::dat {

// What to do with a chunk whose checksum is wrong, or whose header is lost.
enum class DamagedChunks : std::uint8_t { skip, salvage };

class ChunkScope {
  public:
    // Begins the first chunk of the segment. facts and diagnostics outlive the scope.
    ChunkScope(Segment segment, trace::TraceFacts& facts, trace::Diagnostics& diagnostics, DamagedChunks damaged)
        : m_segment(std::move(segment))
        , m_facts(facts)
        , m_diagnostics(diagnostics)
        , m_damaged(damaged) {
        begin(m_segment.begin_bytes);
    }

    ChunkScope(const ChunkScope&) = delete;
    ChunkScope& operator=(const ChunkScope&) = delete;

    // Adds a report to the facts: it is that of the chunk from here on. Parts of chunks have one report together, the
    // first, which those that have ended leave to the report of their chunk.
    void begin(std::uint64_t offset_bytes) {
        const bool reuses = m_segment.followed && m_chunks != 0;
        if (reuses) {
            add_part(m_facts.chunks, m_index);
        } else {
            m_index = m_facts.chunks.size();
            m_facts.chunks.emplace_back();
        }
        chunk() = {.file = m_segment.path,
                   .begin_bytes = offset_bytes,
                   .order = m_segment.order + m_chunks++,
                   .damaged = m_segment.damaged};
    }

    // After the last chunk.
    void finish() {
        if (m_segment.followed) {
            end_parts(m_facts.chunks, m_index);
        }
    }

    [[nodiscard]] trace::ChunkReport& chunk() { return m_facts.chunks[m_index]; }

    [[nodiscard]] const trace::ChunkReport& chunk() const { return m_facts.chunks[m_index]; }

    // Of the chunk's report among the facts.
    [[nodiscard]] std::size_t index() const { return m_index; }

    [[nodiscard]] const Segment& segment() const { return m_segment; }

    // The segment turned out to have lost or gained bytes.
    void set_stretches(std::vector<Stretch> stretches) { m_segment.stretches = std::move(stretches); }

    [[nodiscard]] trace::TraceFacts& facts() { return m_facts; }

    [[nodiscard]] trace::Diagnostics& diagnostics() { return m_diagnostics; }

    [[nodiscard]] bool salvages() const { return m_damaged == DamagedChunks::salvage; }

    void report(trace::Code code, std::uint64_t offset_bytes, std::string_view text) {
        trace::Place place{.file = m_segment.path, .offset_bytes = offset_bytes};
        if (chunk().described) {
            place.chunk = chunk().description.chunk;
            place.cpu = chunk().description.cpu;
        }
        m_diagnostics.report(code, place, text);
    }

  private:
    Segment m_segment;
    trace::TraceFacts& m_facts;
    trace::Diagnostics& m_diagnostics;
    DamagedChunks m_damaged;
    std::size_t m_index = 0;
    std::size_t m_chunks = 0; // begun so far
};

} // namespace host::formats::dat
