// SPDX-License-Identifier: MIT
// What a trace says about itself, gathered while it is read: the clock, the build, the names, the totals, and per chunk
// image what was promised and what was found. Complete once the last event has been taken.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/unit_words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

// Outside of these a rate is not believed: 1 MHz to 10 GHz.
inline constexpr std::uint32_t kTscKhzMin = 1'000;
inline constexpr std::uint32_t kTscKhzMax = 10'000'000;

[[nodiscard]] constexpr bool is_plausible_rate(std::uint32_t khz) {
    return khz >= kTscKhzMin && khz <= kTscKhzMax;
}

// A greater number of a processor is not believed.
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
    std::uint64_t begin_bytes = 0; // where the chunk starts in its file
    std::size_t order = 0;         // in the input: chunks were handed over in this order
    bool described = false;        // it has a chunk_begin that could be read
    bool losses_unplaced = false;  // it was made from a trace that lost records, and does not say where
    tracer::ChunkBegin description{};
    std::uint64_t preamble = 0; // slots read from the preamble
    std::uint64_t records = 0;  // slots read after it: records, or pieces of a compact stream
    std::uint64_t events = 0;   // records that came out of it; equals `records` where nothing is compact
    std::uint64_t missing = 0;  // promised and not there
    std::uint64_t extra = 0;    // there and not promised
    std::uint64_t unused = 0;   // code 0
    std::uint64_t skipped = 0;  // records that could not be decoded
    std::uint64_t gaps = 0;     // parts of the carrier that are missing so far, with an unknown number of records
    std::uint64_t blackout = 0; // records that its blackout_end events say were dropped
    bool in_blackout = false;   // its last blackout has no end
    bool damaged = false;       // its checksum is wrong: any of its records may be; of a pipe known only at its end
    std::optional<std::uint32_t> numevents{};
    std::optional<lib::Ticks> first_stamp{};
    std::optional<lib::Ticks> last_stamp{};

    [[nodiscard]] bool compact() const { return described && description.encoding == tracer::Encoding::compact; }
};

// Parts of the transport (packets, blocks) that never came, known by their numbers. Their contents are not known, nor
// the processor; each held one record at least.
struct Absent {
    std::uint64_t parts = 0;
    std::string_view unit = "packets"; // what they are; static text
    std::uint64_t records = 0;         // in addition: of lost chunks whose records were counted
};

// A clock that was set back while tasks ran in steps.
struct Compensation {
    lib::Ticks removed;                                                      // since boot, of the processor with most
    lib::Ticks removed_meanwhile;                                            // within the trace, of all processors
    std::uint64_t settings = 0;                                              // in the trace
    std::array<std::uint64_t, lib::kWords<lib::StepOutcome>.size()> steps{}; // by outcome, as the kernel counted them
};

struct TraceFacts {
    Clock clock;
    std::optional<std::uint64_t> boot_id;
    std::optional<tracer::Build> build;
    std::optional<tracer::TraceCost> cost; // of a record, as the tracer measured it; none: not known
    std::optional<tracer::ExportEnd> export_end;
    Names names; // of all chunks together
    std::vector<ChunkReport> chunks;
    Absent absent;
    std::optional<Compensation> compensation; // none: the kernel's clock is the machine's
    bool restarted = false;          // the machine was started anew while it was followed: its run has no end here
    std::uint64_t misplaced = 0;     // breaches of an order that another system's format promises, each reported
    std::uint64_t usable_events = 0; // decoded, of a known code, metadata not counted
};

// The one decoder of what this tracer's metadata events say about the machine: names, parameters of tasks,
// declarations, the build, the cost of a record, the totals. Used for every format that carries these events.
// chunk_begin describes a chunk, not the machine, and belongs to the format of chunks.
//
// payload: with its length word. False, and nothing was taken: a field is cut or makes no sense. Names enter
// facts.names, and chunk_names as well if it is not null: what is known at one chunk, not in the whole trace.
[[nodiscard]] bool take_metadata(std::uint8_t code, std::span<const std::byte> payload_untrusted, TraceFacts& facts,
                                 Names* chunk_names = nullptr);

// Where the reader found less than the chunks hold: slots that are empty or could not be decoded, and chunks that end
// early. What is missing may have changed any state, so a check that continues across a hole would accuse at random. In
// a chunk whose checksum is wrong there is a hole before each event. A chunk that is missing as a whole leaves no trace
// here: the manifest and the export's totals report it.
class Holes {
  public:
    // Whether records are missing between the previous event of the same processor and this one. Call once for each
    // event that is not metadata, in the order of the trace; facts: of that trace, as they are at the event.
    [[nodiscard]] bool before(const Event& event, const TraceFacts& facts) {
        Latest& latest = m_processors[event.cpu];
        const ChunkReport& here = facts.chunks[event.source];
        const std::uint64_t lost_here = lost(here);
        if (latest.source == event.source && latest.generation == event.generation) [[likely]] {
            const bool has_hole = here.damaged || lost_here > latest.lost;
            latest.begun = true;
            latest.lost = lost_here;
            return has_hole;
        }
        const ChunkReport* const before = latest.begun ? &facts.chunks[latest.source] : nullptr;
        const bool ended_early = before != nullptr && (before->damaged || lost(*before) > latest.lost);
        latest = {.begun = true, .source = event.source, .generation = event.generation, .lost = lost_here};
        return ended_early || here.damaged || lost_here != 0;
    }

  private:
    struct Latest {
        bool begun = false;           // there was one
        std::uint32_t source = 0;     // the chunk of the processor's latest event
        std::uint32_t generation = 0; // of a chunk that is read in parts: which of them
        std::uint64_t lost = 0;       // in that chunk, up to the event
    };

    [[nodiscard]] static std::uint64_t lost(const ChunkReport& chunk) {
        return chunk.missing + chunk.unused + chunk.skipped + chunk.gaps;
    }

    NumberMap<Latest> m_processors;
};

} // namespace host::trace
