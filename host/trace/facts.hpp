// SPDX-License-Identifier: MIT
// Holds what a trace says about itself: the clock, the build, the names, the totals, and for each chunk image what was
// announced and what was found. It is gathered while the trace is read, and complete after the last event.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

// A rate outside these limits is rejected: 1 MHz to 10 GHz.
inline constexpr std::uint32_t kTscKhzMin = 1'000;
inline constexpr std::uint32_t kTscKhzMax = 10'000'000;

[[nodiscard]] constexpr bool is_plausible_rate(std::uint32_t khz) {
    return khz >= kTscKhzMin && khz <= kTscKhzMax;
}

// A processor with this number or a greater one is rejected.
inline constexpr std::uint16_t kProcessorsMax = 256;

struct Clock {
    std::uint32_t khz = 0; // 0: not known, times are ticks only
    bool overridden = false;
    tracer::TscSource source = tracer::TscSource::unknown;
    tracer::ClockMode mode = tracer::ClockMode::unknown;
    std::uint32_t error_ppm = 0;
};

struct ChunkReport {
    std::string file;
    std::uint64_t begin_bytes = 0; // offset of the chunk in its file
    std::size_t order = 0;         // position in the input
    bool described = false;        // its chunk_begin could be read
    bool losses_unplaced = false;  // made from a trace that had lost records at unknown places
    tracer::ChunkBegin description{};
    std::uint64_t preamble = 0; // slots read from the preamble
    std::uint64_t records = 0;  // slots read after it: records, or pieces of a compact stream
    std::uint64_t events = 0;   // decoded records; equals `records` unless the chunk is compact
    std::uint64_t missing = 0;  // announced and not found
    std::uint64_t extra = 0;    // found and not announced
    std::uint64_t unused = 0;   // slots of code 0
    std::uint64_t skipped = 0;  // records that could not be decoded, but for events of the application, which are known
    std::uint64_t gaps = 0;     // missing parts of the transport so far, with an unknown number of records
    std::uint64_t blackout = 0; // records that its blackout_end events say were dropped
    bool in_blackout = false;   // its last blackout has no end
    bool damaged = false;       // its checksum or its length is wrong, so any record may be; of a pipe this
                                // is known only at its end
    std::optional<std::uint32_t> numevents{};
    std::optional<lib::Ticks> first_stamp{};
    std::optional<lib::Ticks> last_stamp{};

    [[nodiscard]] bool compact() const { return described && description.encoding == tracer::Encoding::compact; }
};

// Parts of the transport (packets, blocks) that are missing, known by their numbers. Neither their contents nor their
// processor is known; each held at least one record.
struct Absent {
    std::uint64_t parts = 0;
    std::string_view unit = "packets"; // name of the parts; static text
    std::uint64_t records = 0;         // in addition: records of lost chunks that had counted them
};

// A kernel clock that was set back while tasks were stepped.
struct Compensation {
    lib::Ticks removed;           // since boot, of the processor with the greatest value
    lib::Ticks removed_meanwhile; // within the trace, sum of all processors
    std::uint64_t settings = 0;   // in the trace
    std::array<std::uint64_t, lib::kWords<lib::StepOutcome>.size()> steps{}; // by outcome, as the kernel counted them
};

struct TraceFacts {
    Clock clock;
    std::optional<std::uint64_t> boot_id;
    std::optional<tracer::Build> build;
    std::optional<tracer::TraceCost> cost; // cost of a record, as the tracer measured it
    std::optional<tracer::ExportEnd> export_end;
    Names names; // names of all chunks
    std::vector<ChunkReport> chunks;
    Absent absent;
    std::optional<Compensation> compensation; // none: the kernel's clock was never set back
    // Each chunk that the machine has used is among those that are read, or in `absent`, and in its place.
    bool has_all_chunks = false;
    bool restarted = false;      // the machine was restarted while it was followed, so the end of its run is not here
    std::uint64_t misplaced = 0; // violations of an order that another system's format promises; each was reported
    std::uint64_t usable_events = 0; // decoded, of a known code, metadata not counted
};

// Decodes what this tracer's metadata events say about the machine: names, parameters of tasks, declarations, the
// build, the cost of a record, the totals. Every format with these events uses it. chunk_begin describes a chunk, not
// the machine, and is decoded by the format of chunks.
//
// payload: includes its length word. Returns false and takes nothing if a field is cut or invalid. Names are added to
// facts.names, and also to chunk_names (the names known at one chunk) if that is not null.
[[nodiscard]] bool take_metadata(std::uint8_t code, std::span<const std::byte> payload_untrusted, TraceFacts& facts,
                                 Names* chunk_names = nullptr);

// Finds where the reader got fewer records than the chunks hold: slots that are empty or could not be decoded, and
// chunks that end early. The missing records may have changed any state, so a check that continued across a hole would
// report false violations. There is one before and after a chunk whose checksum is wrong. Whole chunks may be missing
// before any chunk that is not the next one by its number, unless it is known that all are there; and after trace_stop,
// which states that recording pauses.
class Holes {
  public:
    // Returns whether records are missing between the previous event of the same processor and this one. Must be called
    // once for each sound event of our table that is not metadata, in the order of the trace; facts: of that trace, as
    // they are at the event.
    [[nodiscard]] bool before(const Event& event, const TraceFacts& facts) {
        Latest& latest = m_processors[event.cpu];
        const bool was_paused = std::exchange(latest.paused, event.code == kCodeOf<"trace_stop">);
        return is_lost_before(event, facts, latest) || was_paused;
    }

  private:
    static constexpr std::size_t kLatestChunks = 256;

    struct Latest {
        bool begun = false;           // the processor had an event
        bool paused = false;          // its latest event is trace_stop
        std::uint32_t source = 0;     // the chunk of the processor's latest event
        std::uint32_t generation = 0; // number of the part, of a chunk that is read in parts
        std::uint64_t lost = 0;       // lost in that chunk, up to the event
    };

    [[nodiscard]] bool is_lost_before(const Event& event, const TraceFacts& facts, Latest& latest) {
        const ChunkReport& here = facts.chunks[event.source];
        const std::uint64_t lost_here = lost(here);
        if (latest.begun && latest.source == event.source && latest.generation == event.generation) [[likely]] {
            const bool has_hole = lost_here > latest.lost;
            latest.lost = lost_here;
            return has_hole;
        }
        const ChunkReport* const before = latest.begun ? &facts.chunks[latest.source] : nullptr;
        const bool ended_early = before != nullptr && (before->damaged || lost(*before) > latest.lost);
        const bool lacks_chunks =
            before != nullptr && before != &here &&
            (here.description.overwritten != 0 || (lacks_parts(facts) && !follows(*before, here, facts)));
        latest = {.begun = true,
                  .paused = latest.paused,
                  .source = event.source,
                  .generation = event.generation,
                  .lost = lost_here};
        return ended_early || lacks_chunks || here.damaged || lost_here != 0;
    }

    [[nodiscard]] static std::uint64_t lost(const ChunkReport& chunk) {
        return chunk.missing + chunk.unused + chunk.skipped + chunk.gaps + (chunk.damaged ? 1 : 0);
    }

    [[nodiscard]] bool lacks_parts(const TraceFacts& facts) {
        for (; m_looked_at < facts.chunks.size(); ++m_looked_at) {
            const ChunkReport& chunk = facts.chunks[m_looked_at];
            m_lost_chunk = m_lost_chunk || (!chunk.first_stamp && lost(chunk) != 0);
        }
        return m_lost_chunk || !facts.has_all_chunks || facts.absent.parts != 0 || facts.absent.records != 0;
    }

    // Returns whether the second chunk is the next one by its number, or those between are of other processors.
    [[nodiscard]] static bool follows(const ChunkReport& before, const ChunkReport& here, const TraceFacts& facts) {
        const tracer::ChunkBegin& from = before.description;
        const tracer::ChunkBegin& to = here.description;
        return before.described && here.described && to.chunk > from.chunk && to.generation == from.generation &&
               to.chunk - from.chunk - 1 == of_others_between(from, to, facts);
    }

    // Counts the latest chunks of other processors that have records and a number between these two.
    [[nodiscard]] static std::ptrdiff_t of_others_between(const tracer::ChunkBegin& from, const tracer::ChunkBegin& to,
                                                          const TraceFacts& facts) {
        if (to.chunk == from.chunk + 1) {
            return 0;
        }
        const auto latest = std::span(facts.chunks).last(std::min<std::size_t>(facts.chunks.size(), kLatestChunks));
        return std::ranges::count_if(latest, [&](const ChunkReport& chunk) {
            return chunk.first_stamp && chunk.description.cpu != to.cpu && chunk.description.chunk > from.chunk &&
                   chunk.description.chunk < to.chunk;
        });
    }

    NumberMap<Latest> m_processors;
    std::size_t m_looked_at = 0; // so many chunks have been looked at
    bool m_lost_chunk = false;   // one of them has lost all its records
};

} // namespace host::trace
