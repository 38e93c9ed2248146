// SPDX-License-Identifier: MIT
// Where the reader found less than the chunks hold: slots that are empty or could not be decoded, and chunks that end
// early. What is missing may have changed any state, so a check that continues across a hole would accuse at random. In
// a chunk whose checksum is wrong there is a hole before each event. A chunk that is missing as a whole leaves no trace
// here: the manifest and the export's totals report it.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/number_map.hpp"

#include <cstdint>

namespace host::trace {

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
