// SPDX-License-Identifier: MIT
// How many bits of the time a compact header can do without, from what a machine measured, and which layout follows.
// Times in cycles of the time stamp counter, or milliseconds with the rate in kHz beside them. Host-safe. Context: any.
//
// Low bits: two events are at least one probe apart, so bits below half a probe order nothing.
//   LSB = max(0, fls(probe cycles) - 1)                                   800 cycles -> 9, 200 -> 7, 1 -> 0
// High bits: what is left must not turn twice while interrupts are off and the timer waits.
//   MSB = 32 - fls((longest_cli_ms + timer_ms) * 2 * khz)                 (15 + 10) ms at 4 GHz -> 4
//   second version: MSB = 32 - fls((latency_ms + timer_ms) * khz) - 1     likewise -> 4
// fls(n) is the number of the highest bit, counted from 1; fls(0) = 0. Source: LTTng, tsc-smallv1.txt, where line 121
// has cycles and time the wrong way round and line 128 divides by the rate instead of multiplying.
#pragma once

#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tracer::compact {

[[nodiscard]] constexpr unsigned fls(std::uint64_t value) {
    return static_cast<unsigned>(std::bit_width(value));
}

[[nodiscard]] constexpr unsigned lsb_bits(std::uint64_t probe_cycles) {
    return std::max(fls(probe_cycles), 1U) - 1;
}

// 0 where the span does not fit into 32 bits: nothing can be spared.
[[nodiscard]] constexpr unsigned msb_bits(std::uint64_t longest_cli_ms, std::uint64_t timer_ms, std::uint64_t khz) {
    return 32 - std::min(32U, fls((longest_cli_ms + timer_ms) * 2 * khz));
}

[[nodiscard]] constexpr unsigned msb_bits_v2(std::uint64_t latency_ms, std::uint64_t timer_ms, std::uint64_t khz) {
    return 32 - std::min(32U, fls((latency_ms + timer_ms) * khz) + 1);
}

// Periodic heartbeats: nothing may keep two of them a turn apart.
struct HeartbeatPlan {
    std::uint64_t period_cycles = 0;      // of the heartbeat
    std::uint64_t longest_cli_cycles = 0; // interrupts off
    std::uint64_t tick_cycles = 0;        // of the timer that sends it

    [[nodiscard]] constexpr std::uint64_t worst_gap_cycles() const {
        return period_cycles + longest_cli_cycles + tick_cycles;
    }
};

struct Safety {
    bool safe = false;
    std::uint64_t turn_cycles = 0; // of the layout; 2^64 - 1: it never turns
    std::uint64_t needed_cycles = 0;
};

// Safe: the worst gap between two heartbeats is shorter than one turn. With heartbeats on demand every layout is safe.
[[nodiscard]] constexpr Safety layout_is_safe(Layout layout, const HeartbeatPlan& plan) {
    const unsigned bits = row_of(layout).turn_bits();
    const std::uint64_t turn = bits >= 64 ? ~std::uint64_t{0} : std::uint64_t{1} << bits;
    return {.safe = plan.worst_gap_cycles() < turn, .turn_cycles = turn, .needed_cycles = plan.worst_gap_cycles()};
}

struct Measured {
    std::uint64_t probe_cycles = 0; // cost of one record: two stamps are at least so far apart
    HeartbeatPlan heartbeat{};      // all zero: heartbeats on demand
    std::uint32_t ids = 0;          // events that want a compact header
};

// The layout that keeps most of the time and still names every event: no more low bits cut than LSB allows, a turn that
// is safe, enough ids. Of two that are equal so far, the one with fewer ids to spare. not_found: none.
[[nodiscard]] constexpr lib::Result<Layout> choose_layout(const Measured& measured) {
    const LayoutRow* best = nullptr;
    for (const LayoutRow& row : kLayoutRows) {
        const bool fits = row.has_compact_headers() && row.ids() >= measured.ids &&
                          row.lsb <= lsb_bits(measured.probe_cycles) &&
                          layout_is_safe(row.layout, measured.heartbeat).safe;
        if (fits && (best == nullptr || row.lsb < best->lsb || (row.lsb == best->lsb && row.ids() < best->ids()))) {
            best = &row;
        }
    }
    if (best == nullptr) {
        return lib::Error::not_found;
    }
    return best->layout;
}

static_assert(lsb_bits(800) == 9 && lsb_bits(200) == 7 && lsb_bits(1) == 0 && lsb_bits(0) == 0);
static_assert(msb_bits(15, 10, 4'000'000) == 4 && msb_bits_v2(15, 10, 4'000'000) == 4);

} // namespace tracer::compact
