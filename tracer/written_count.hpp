// SPDX-License-Identifier: MIT
// Counts what a processor has recorded, from the word of its active chunk.
#pragma once

#include "tracer/instance.hpp"

#include <cstdint>

namespace tracer {

// Counts the records that this processor has written, for a caller that asks often: the position in the active chunk
// states it, and all chunks are summed up only when another one has become active. The record path does nothing for it.
// The active chunk must not be compact, because the position of a compact chunk counts no records.
class WrittenCount {
  public:
    constexpr WrittenCount() = default;

    // Returns the number of records and slots of long events since boot, which never falls. The instance must be the
    // same each time. Context: irq-off.
    [[nodiscard]] std::uint64_t now(const Instance& instance) {
        const ChunkControl& active = *read_shared(instance.cpu.active);
        const std::uint64_t here = written_in(active);
        if (&active != m_active || here < m_here) { // a chunk may have been emptied meanwhile
            const Totals totals = instance.control.totals();
            m_before = totals.committed + totals.tracer_made - here;
            m_active = &active;
        }
        m_here = here;
        return m_before + here;
    }

  private:
    [[nodiscard]] static std::uint64_t written_in(const ChunkControl& control) {
        const std::uint64_t word = read_shared(control.word);
        return (control.lap_base[(word >> 32) & 1] + (word & TRACER_WORD_POSITION_MASK)) / kRecordBytes;
    }

    const ChunkControl* m_active = nullptr;
    std::uint64_t m_before = 0; // outside of the active chunk
    std::uint64_t m_here = 0;
};

} // namespace tracer
