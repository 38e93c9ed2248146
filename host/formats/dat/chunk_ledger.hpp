// SPDX-License-Identifier: MIT
// The account of a chunk: what it announced, what was found of it, and everything that is lost or damaged.
#pragma once

#include "host/formats/dat/segment.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace host::formats::dat {

// The reports of chunks that are read in parts, while the machine writes them, are one for each chunk, however many
// parts come: memory is bounded by the number of chunks. The part that is being read has a report of its own, at the
// same index for all parts.
//
// The part at this index has ended: its chunk's report takes its counts. The sum over all reports is that of all parts
// only after the report at the index was replaced. Precondition: part < reports.size(), and so for the other.
void add_part(std::vector<trace::ChunkReport>& reports, std::size_t part);

// The last part has ended: its chunk's report takes its place.
void end_parts(std::vector<trace::ChunkReport>& reports, std::size_t part);

// What to do with a chunk whose checksum is wrong, or whose header is lost.
enum class DamagedChunks : std::uint8_t { skip, salvage };

// The chunk image that is being read: its report among the facts of the trace, and diagnostics that name its place.
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

    // Returns the place of the chunk's report among the facts.
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

// A slot and where it is.
struct Slot {
    tracer::Record record;
    std::uint64_t index = 0; // in its chunk
    std::uint64_t offset_bytes = 0;
    bool compact = false; // out of a compact stream
};

// What a chunk announces and what is found of it. The ledger judges the header, counts slots against it, and decides
// whether the chunk is read, given up, or read without relying on its counts. What is missing, what is too much and
// what was erased is reported at the end of the chunk. Records have no checksum; what is stored twice (the count) is
// compared instead.
class ChunkLedger {
  public:
    // scope outlives the ledger.
    explicit ChunkLedger(ChunkScope& scope)
        : m_scope(scope) {}

    ChunkLedger(const ChunkLedger&) = delete;
    ChunkLedger& operator=(const ChunkLedger&) = delete;

    // A new chunk: nothing is known of it.
    void begin();

    // The rest of the chunk is given up.
    [[nodiscard]] bool is_skipped() const { return m_skipped; }

    void skip_slot() { ++m_scope.chunk().skipped; }

    // A slot of all ones: flash or disk that was erased.
    void take_erased(std::uint64_t offset_bytes);

    // The slot describes the trace instead of being part of it: it is in the preamble, or it is the end of an export.
    // Where the length of the preamble is not known, or not to be relied on, its family says so.
    [[nodiscard]] bool is_metadata(const Slot& slot) const;

    void count(const Slot& slot);

    // A slot of code 0, which no machine exports: in a chunk that describes itself its record was lost on the way.
    void take_empty(const Slot& slot);

    // The chunk's very first slot has the bytes of a header in the other order.
    [[nodiscard]] bool reject_swapped(const Slot& slot);

    // The header of the chunk is damaged, or contradicts what follows it. The chunk is read on without relying on the
    // counts in its header if it is known to hold records, or if damaged chunks are salvaged; else it is given up.
    void distrust(trace::Code code, std::uint64_t offset_bytes, std::string_view text, bool holds_records);

    // The chunk is read all the same, and its end is where the next one begins.
    [[nodiscard]] bool distrusts_count() const { return m_distrusts_count; }

    // The header has been read: first is its first slot, own_slots how many it has. False: the chunk is given up.
    [[nodiscard]] bool accept(const tracer::ChunkBegin& description, const Slot& first, std::uint64_t own_slots,
                              bool is_seekable);

    // A numevents: the last slot of the preamble, which repeats the count.
    void check_repeated_count(const Slot& slot);

    // The chunk ends here.
    void finish(std::uint64_t end_bytes);

  private:
    struct Fault {
        trace::Code code;
        std::string text;
    };

    [[nodiscard]] std::optional<Fault> fault_of(const tracer::ChunkBegin& description, const Slot& first,
                                                std::uint64_t own_slots) const;

    void finish_part();

    ChunkScope& m_scope;
    bool m_skipped = false;
    bool m_distrusts_count = false;
    std::uint64_t m_empty = 0;
    std::uint64_t m_empty_bytes = 0; // offset of the first
    std::uint64_t m_erased = 0;
    std::uint64_t m_erased_bytes = 0;                                         // offset of the first
    std::set<std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>> m_seen; // chunks of a pipe
};

// What chunks say about the clock of the machine: the first rate counts for the whole trace.
//
// A rate that a record or a header states. E-FREQ: it is not plausible; W-RATE: it is not the one that is used.
void take_rate(ChunkScope& scope, std::uint32_t khz, std::uint64_t offset_bytes);

// Source, mode, error and rate of the clock as a header states them. W-NORATE: the rate is not known.
void take_clock(ChunkScope& scope, const tracer::ChunkBegin& description, std::uint64_t offset_bytes);

// What the chunks of a trace say about each other, once all of them have been read.
//
// W-COUNTER: a counter of a processor falls from one chunk to the next that was handed over, or exceeds the total of
// export_end. W-GAP: between two chunks of a processor `dropped` rose by more than its blackout_end events report.
void check_counters(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

// W-CLOCK: there are several events, and all have the same stamp.
void check_clock(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

// Reports, for a machine that was followed, how many records are missing in all and what helps (W-GAP).
void report_missing(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

} // namespace host::formats::dat
