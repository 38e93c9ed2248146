// SPDX-License-Identifier: MIT
// Which layout suits a machine, by what it measured of itself. Times are ticks of the time stamp counter. Host-safe.
// Context: any.
//
// Low bits: two records are at least the cost of one apart, so bits below half of it order nothing.
//   bits that may be cut = max(0, fls(probe) - 1)                 800 ticks -> 9, 200 -> 7, 1 -> 0
// High bits: a turn must outlast twice the time that the timer holds the processor up; in a shorter one each setting of
// the timer would need a heartbeat.
//   bits of a turn >= fls(2 * timer)                              (15 + 10) ms at 4 GHz -> 28 of 32
// fls(n) is the number of the highest bit, counted from 1; fls(0) = 0. Source: LTTng, tsc-smallv1.txt, whose line 121
// exchanges cycles and time, and whose line 128 divides by the rate instead of multiplying. There the timer is the one
// of the periodic heartbeat, together with the longest time with interrupts off; here heartbeats are on demand.
#pragma once

#include "tracer/compact/layout.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tracer::compact {

[[nodiscard]] constexpr unsigned fls(std::uint64_t value) {
    return static_cast<unsigned>(std::bit_width(value));
}

[[nodiscard]] constexpr unsigned cut_bits_max(std::uint64_t probe_ticks) {
    return std::max(fls(probe_ticks), 1U) - 1;
}

[[nodiscard]] constexpr unsigned turn_bits_min(std::uint64_t timer_ticks) {
    return fls(std::min(timer_ticks, ~std::uint64_t{0} / 2) * 2);
}

struct Measured {
    std::uint64_t probe_ticks = 0; // one record, written plainly
    std::uint64_t timer_ticks = 0; // one setting of the timer
};

// Events that have a compact header in a stream that is written live.
[[nodiscard]] constexpr std::uint32_t live_ids(const LayoutRow& row) {
    const auto simple = std::ranges::count_if(
        kEvents, [](const EventRow& event) { return event.shape == Shape::simple && event.code != 0; });
    return std::min(row.ids(), static_cast<std::uint32_t>(simple));
}

// Of the layouts that cut no bit of use and whose turn is long enough: the one with most ids; of those the one that
// cuts least; of those the one with the smaller headers. There is one: large96 cuts nothing and never turns. The bare
// layouts are left out: their escape costs four bytes at each large event, and every record of a time is one, which is
// more than their ids save (a run of `control` is 5 % longer in A2 than in A, 4 % in D2 than in D).
[[nodiscard]] constexpr Layout choose_layout(const Measured& measured) {
    const LayoutRow* best = nullptr;
    for (const LayoutRow& row : kLayoutRows) {
        const bool fits = row.kind != Kind::bare && row.lsb <= cut_bits_max(measured.probe_ticks) &&
                          row.turn_bits() >= turn_bits_min(measured.timer_ticks);
        if (fits && (best == nullptr || live_ids(row) > live_ids(*best) ||
                     (live_ids(row) == live_ids(*best) && row.lsb < best->lsb))) {
            best = &row;
        }
    }
    ASSERT(best != nullptr);
    return best->layout;
}

static_assert(cut_bits_max(800) == 9 && cut_bits_max(200) == 7 && cut_bits_max(1) == 0 && cut_bits_max(0) == 0);
static_assert(turn_bits_min(25 * 4'000'000) == 32 - 4 && turn_bits_min(0) == 0);

} // namespace tracer::compact
