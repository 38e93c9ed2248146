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

// While a machine writes its chunks, they are read in parts, but there is one report for each chunk, so memory is
// bounded by the number of chunks. The part that is being read has a report of its own, at the same index for all
// parts.
//
// Adds the counts of the part that has ended to the report of its chunk. The sum over all reports equals that of all
// parts only after the report at the index was replaced. Precondition: part < reports.size(), also for end_parts().
void add_part(std::vector<trace::ChunkReport>& reports, std::size_t part);

// Replaces the report of the last part, which has ended, by that of its chunk.
void end_parts(std::vector<trace::ChunkReport>& reports, std::size_t part);

// States what is done with a chunk whose checksum is wrong or whose header is lost.
enum class DamagedChunks : std::uint8_t { skip, salvage };

// The chunk image that is being read: its report in the facts of the trace, and diagnostics that name its place.
class ChunkScope {
  public:
    // Begins the first chunk of the segment. facts and diagnostics must outlive the scope.
    ChunkScope(Segment segment, trace::TraceFacts& facts, trace::Diagnostics& diagnostics, DamagedChunks damaged)
        : m_segment(std::move(segment))
        , m_facts(facts)
        , m_diagnostics(diagnostics)
        , m_damaged(damaged) {
        begin(m_segment.begin_bytes);
    }

    ChunkScope(const ChunkScope&) = delete;
    ChunkScope& operator=(const ChunkScope&) = delete;

    // Adds a report to the facts, for the chunk that begins. Parts of chunks share one report, the first; each part
    // that has ended adds its counts to the report of its chunk.
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

    // Must be called after the last chunk.
    void finish() {
        if (m_segment.followed) {
            end_parts(m_facts.chunks, m_index);
        }
    }

    [[nodiscard]] trace::ChunkReport& chunk() { return m_facts.chunks[m_index]; }

    [[nodiscard]] const trace::ChunkReport& chunk() const { return m_facts.chunks[m_index]; }

    // Returns the index of the chunk's report in the facts.
    [[nodiscard]] std::size_t index() const { return m_index; }

    [[nodiscard]] const Segment& segment() const { return m_segment; }

    // Sets the stretches of a segment that turned out to have lost or gained bytes.
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

// Is a slot and its place.
struct Slot {
    tracer::Record record;
    std::uint64_t index = 0; // in its chunk
    std::uint64_t offset_bytes = 0;
    bool compact = false; // decoded from a compact stream
};

// Compares what a chunk announces with what is found. The ledger judges the header, counts slots, and decides whether
// the chunk is read, given up, or read without relying on its counts. At the end of the chunk it reports what is
// missing, what is too much and what was erased. Records have no checksum, so values that are stored twice (the count)
// are compared instead.
class ChunkLedger {
  public:
    // scope must outlive the ledger.
    explicit ChunkLedger(ChunkScope& scope)
        : m_scope(scope) {}

    ChunkLedger(const ChunkLedger&) = delete;
    ChunkLedger& operator=(const ChunkLedger&) = delete;

    // Begins a chunk of which nothing is known yet.
    void begin();

    // Returns whether the rest of the chunk is given up.
    [[nodiscard]] bool is_skipped() const { return m_skipped; }

    // Returns how many slots the header announces from this one on; no limit if it is not known or not believed.
    [[nodiscard]] std::uint64_t announced_after(std::uint64_t index) const {
        const trace::ChunkReport& chunk = m_scope.chunk();
        const std::uint64_t announced = std::uint64_t{chunk.description.preamble_slots} + chunk.description.records;
        return !chunk.described || m_distrusts_count ? ~std::uint64_t{0} : announced - std::min(announced, index);
    }

    // Nothing is lost with a chunk that was read before.
    void skip_slot() { m_scope.chunk().skipped += m_is_repeated ? 0 : 1; }

    // Counts a slot of all ones: flash or disk that was erased.
    void take_erased(std::uint64_t offset_bytes);

    // Returns whether the slot describes the trace instead of being part of it: it is in the preamble, or it is the end
    // of an export. If the length of the preamble is not known or not reliable, the slot's family decides.
    [[nodiscard]] bool is_metadata(const Slot& slot) const;

    void count(const Slot& slot);

    // Counts a slot of code 0, which no machine exports: in a chunk that describes itself, its record was lost in
    // transfer.
    void take_empty(const Slot& slot);

    // Returns whether the first slot of the chunk has the bytes of a header in the other byte order; the chunk is then
    // given up.
    [[nodiscard]] bool reject_swapped(const Slot& slot);

    // Records that the header of the chunk is damaged or contradicts what follows it. The chunk is read without relying
    // on the counts in its header if it is known to hold records, or if damaged chunks are salvaged; else it is given
    // up.
    void distrust(trace::Code code, std::uint64_t offset_bytes, std::string_view text, bool holds_records);

    // Returns whether the chunk is read without its counts; it then ends where the next one begins.
    [[nodiscard]] bool distrusts_count() const { return m_distrusts_count; }

    // Judges the header after it was read. first: its first slot; own_slots: the number of its slots. Returns false if
    // the chunk is given up.
    [[nodiscard]] bool accept(const tracer::ChunkBegin& description, const Slot& first, std::uint64_t own_slots,
                              bool is_seekable);

    // Checks a numevents, the last slot of the preamble, which repeats the count.
    void check_repeated_count(const Slot& slot);

    // Reports what is missing and what is too much at the end of the chunk.
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
    bool m_is_repeated = false;
    bool m_distrusts_count = false;
    std::uint64_t m_empty = 0;
    std::uint64_t m_empty_bytes = 0; // offset of the first
    std::uint64_t m_erased = 0;
    std::uint64_t m_erased_bytes = 0;                                         // offset of the first
    std::set<std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>> m_seen; // chunks of a pipe
};

//
// Takes a rate that a record or a header states; the first rate is used for the whole trace. E-FREQ: it is not
// plausible; W-RATE: it is not the rate that is used.
void take_rate(ChunkScope& scope, std::uint32_t khz, std::uint64_t offset_bytes);

// Takes source, mode, error and rate of the clock from a header. W-NORATE: the rate is not known.
void take_clock(ChunkScope& scope, const tracer::ChunkBegin& description, std::uint64_t offset_bytes);

// Compares the chunks of a trace after all of them have been read.
//
// W-COUNTER: a counter of a processor decreases from one chunk to the next that was handed over, or exceeds the total
// of export_end. W-GAP: between two chunks of a processor `dropped` increased by more than its blackout_end events
// report.
void check_counters(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

// Reports W-CLOCK if there are several events and all have the same stamp.
void check_clock(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

// Reports, for a machine that was followed, how many records are missing in all and what helps (W-GAP).
void report_missing(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics);

} // namespace host::formats::dat
