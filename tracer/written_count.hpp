// SPDX-License-Identifier: MIT
// How many records this processor has written, for one who asks often: the position in the active chunk says it, and
// all chunks are summed up only when another one has become active. The record path does nothing for it. A compact
// chunk's position counts no records: it must not be active.
#pragma once

#include "tracer/instance.hpp"

#include <cstdint>

namespace tracer {

class WrittenCount {
  public:
    constexpr WrittenCount() = default;

    // Records and slots of long events since boot; never falls. irq-off, with the same instance always.
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
