// SPDX-License-Identifier: MIT
// Restores whole stamps from cut ones; the only place that counts the turns of the time. The floor is kept as state, so
// a compact stamp that is coarser than the large stamp before it is not mistaken for a turn, and time never decreases.
// Host-safe. Context: any.
//
// Heartbeats on demand: the writer emits a full stamp before any event that is in another turn than the previous one,
// so a stamp that decreases means damage. Periodic heartbeats: there is at least one event in each turn, so a stamp
// that decreases means one more turn, and the next full stamp verifies it.
#pragma once

#include "lib/result.hpp"
#include "lib/units.hpp"
#include "tracer/compact/layout.hpp"

#include <cstdint>

namespace tracer::compact {

enum class Heartbeats : std::uint8_t {
    on_demand,
    periodic,
};

class Unwrap {
  public:
    constexpr Unwrap() = default;

    constexpr Unwrap(const LayoutRow& row, Heartbeats heartbeats)
        : m_row(row)
        , m_heartbeats(heartbeats) {}

    // Takes a full stamp: a heartbeat, or any event of large96. corrupt: it is before the previous events, or
    // (periodic) a turn or more after them, so that turns were not counted. The state becomes the new stamp in any
    // case.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> full(std::uint64_t tsc) {
        const bool fell = m_known && tsc < m_floor;
        const bool late = m_known && m_heartbeats == Heartbeats::periodic && m_row.turn_bits() < 64 &&
                          (tsc >> m_row.lsb) - (m_floor >> m_row.lsb) >= turn() >> m_row.lsb;
        m_known = true;
        m_floor = tsc;
        if (fell || late) {
            return lib::Error::corrupt;
        }
        return lib::Ticks{m_floor};
    }

    // Takes a compact stamp, (tsc >> lsb) cut to tsc_bits. corrupt: no full stamp came before it, or it decreased.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> compact(std::uint32_t time) {
        const std::uint64_t granule = (m_floor >> m_row.lsb & ~std::uint64_t{m_row.tsc_mask()}) | time;
        return advance(granule << m_row.lsb, m_row.lsb, turn());
    }

    // Takes the low half of a stamp, that of a large header. corrupt: as above, or (on demand) it is in another turn.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> low_half(std::uint32_t low) {
        const std::uint64_t stamp = (m_floor & ~std::uint64_t{0xFFFF'FFFF}) | low;
        if (m_heartbeats == Heartbeats::on_demand && m_row.turn_bits() < 32 && (stamp ^ m_floor) >= turn()) {
            return lib::Error::corrupt;
        }
        return advance(stamp, 0, std::uint64_t{1} << 32);
    }

    // No later event has a stamp before this.
    [[nodiscard]] constexpr lib::Ticks floor() const { return {m_floor}; }

  private:
    [[nodiscard]] constexpr std::uint64_t turn() const { return std::uint64_t{1} << m_row.turn_bits(); }

    // `stamp` is correct except for whole turns; it is compared without its cut bits.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> advance(std::uint64_t stamp, unsigned cut_bits,
                                                            std::uint64_t turn_ticks) {
        if (!m_known) {
            return lib::Error::corrupt;
        }
        if (stamp >> cut_bits < m_floor >> cut_bits) {
            if (m_heartbeats == Heartbeats::on_demand) {
                return lib::Error::corrupt;
            }
            stamp += turn_ticks;
        }
        m_floor = stamp > m_floor ? stamp : m_floor;
        return lib::Ticks{m_floor};
    }

    LayoutRow m_row = row_of(Layout::a);
    Heartbeats m_heartbeats = Heartbeats::on_demand;
    bool m_known = false;
    std::uint64_t m_floor = 0;
};

} // namespace tracer::compact
