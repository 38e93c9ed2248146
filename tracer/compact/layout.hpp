// SPDX-License-Identifier: MIT
// Declares the headers of a compact stream: how select bit, event id and time share 32 bits, and the two large headers.
// Headers are packed and unpacked only here. Host-safe. Context: any.
// Source: LTTng, doc/developer/tsc-smallv1.txt (2007), and its second version without the select bit.
//
//   select layouts     31   30 ..                 0       bare layouts (no select bit)
//   compact header   | 1 |  id  |  time           |       |   id   |  time            |
//   large header     | 0 |  id15      |  size16   |       | id = 0 |  time: all ones  | then a large header
//                    |  time, bits 31..0          |
//
//   large64: every event has the large header.   large96: id15 and size16, then the 64-bit time at a multiple of 8
//   bytes, so that the header takes 96 bits at 4 mod 8 and 128 bits at 0 mod 8.
//
// A stream starts at a multiple of 16 and every header at a multiple of 4. A word of zeros is padding, in all layouts.
#pragma once

#include "lib/assert.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer::compact {

enum class Layout : std::uint8_t {
    a = 0,        // 1 + 4 + 27, exact in time
    b = 1,        // 1 + 4 + 27, 5 low bits cut
    c = 2,        // 1 + 5 + 26, 6 low bits cut
    d = 3,        // 1 + 6 + 25, 7 low bits cut
    plan12 = 4,   // 1 + 12 + 19, 9 low bits cut
    a2 = 5,       // 5 + 27, exact in time
    b2 = 6,       // 5 + 27, 5 low bits cut
    c2 = 7,       // 6 + 26, 6 low bits cut
    d2 = 8,       // 7 + 25, 7 low bits cut
    large64 = 9,  // large headers only, 32 bits of time
    large96 = 10, // large headers only, 64 bits of time
};

inline constexpr std::size_t kLayouts = 11;

enum class Kind : std::uint8_t {
    select,  // the top bit is 1 in compact headers
    bare,    // id 0 with all time bits set leads to a large header
    large64, // no compact headers
    large96, // the same, and no heartbeats
};

struct LayoutRow {
    Layout layout;
    std::string_view name;
    Kind kind;
    std::uint8_t select_bits;
    std::uint8_t id_bits;  // of a compact header; 15 in a large one
    std::uint8_t tsc_bits; // of the smallest header of the layout
    std::uint8_t lsb;      // low bits of the time that a compact header does not hold

    // Returns the bits of a turn: the time wraps after 2^turn_bits ticks, with 64 never.
    [[nodiscard]] constexpr unsigned turn_bits() const { return static_cast<unsigned>(tsc_bits) + lsb; }

    [[nodiscard]] constexpr bool has_compact_headers() const { return kind == Kind::select || kind == Kind::bare; }

    // Returns the maximum number of ids in a map: in the bare layouts id 0 is the escape.
    [[nodiscard]] constexpr std::uint32_t ids() const {
        return !has_compact_headers() ? 0 : (1U << id_bits) - (kind == Kind::bare ? 1U : 0U);
    }

    [[nodiscard]] constexpr std::uint32_t first_id() const { return kind == Kind::bare ? 1 : 0; }

    [[nodiscard]] constexpr std::uint32_t tsc_mask() const {
        return tsc_bits >= 32 ? ~std::uint32_t{0} : (1U << tsc_bits) - 1;
    }
};

inline constexpr auto kLayoutRows = std::to_array<LayoutRow>({
    {Layout::a, "A", Kind::select, 1, 4, 27, 0},
    {Layout::b, "B", Kind::select, 1, 4, 27, 5},
    {Layout::c, "C", Kind::select, 1, 5, 26, 6},
    {Layout::d, "D", Kind::select, 1, 6, 25, 7},
    {Layout::plan12, "plan12", Kind::select, 1, 12, 19, 9},
    {Layout::a2, "A2", Kind::bare, 0, 5, 27, 0},
    {Layout::b2, "B2", Kind::bare, 0, 5, 27, 5},
    {Layout::c2, "C2", Kind::bare, 0, 6, 26, 6},
    {Layout::d2, "D2", Kind::bare, 0, 7, 25, 7},
    {Layout::large64, "large64", Kind::large64, 1, 15, 32, 0},
    {Layout::large96, "large96", Kind::large96, 1, 15, 64, 0},
});

[[nodiscard]] constexpr bool is_layout(std::uint8_t number) {
    return number < kLayouts;
}

[[nodiscard]] constexpr const LayoutRow& row_of(Layout layout) {
    ASSERT(is_layout(static_cast<std::uint8_t>(layout)));
    return kLayoutRows[static_cast<std::size_t>(layout)];
}

// --- compact headers -------------------------------------------------------------------------------------------------

inline constexpr std::uint32_t kSelectBit = 0x8000'0000;

struct CompactHeader {
    std::uint32_t id = 0;
    std::uint32_t time = 0; // (tsc >> lsb) cut to tsc_bits

    friend bool operator==(const CompactHeader&, const CompactHeader&) = default;
};

// Packs a compact header. Precondition: the layout has them, and first_id() <= id < first_id() + ids().
[[nodiscard]] constexpr std::uint32_t pack_compact(const LayoutRow& row, std::uint32_t id, std::uint64_t tsc) {
    return (row.kind == Kind::select ? kSelectBit : 0U) | id << row.tsc_bits |
           (static_cast<std::uint32_t>(tsc >> row.lsb) & row.tsc_mask());
}

// Unpacks a compact header. Precondition: is_compact(row, word).
[[nodiscard]] constexpr CompactHeader unpack_compact(const LayoutRow& row, std::uint32_t word) {
    return {.id = (word & ~(row.kind == Kind::select ? kSelectBit : 0U)) >> row.tsc_bits,
            .time = word & row.tsc_mask()};
}

// Returns the word before a large header in a bare layout.
[[nodiscard]] constexpr std::uint32_t escape_word(const LayoutRow& row) {
    return row.tsc_mask();
}

[[nodiscard]] constexpr bool is_compact(const LayoutRow& row, std::uint32_t word) {
    return row.kind == Kind::select ? (word & kSelectBit) != 0 : row.kind == Kind::bare && word >> row.tsc_bits != 0;
}

// --- large headers ---------------------------------------------------------------------------------------------------

// These bits of id15 in a large header describe its event.
inline constexpr std::uint32_t kLargeCodeMask = 0x00FF;
inline constexpr std::uint32_t kLargeFast = 0x0100; // logged past the filters
inline constexpr std::uint32_t kLargeLong = 0x0200; // a long event: the payload is that of all its slots, joined
inline constexpr std::uint32_t kLargeIdMask = kLargeCodeMask | kLargeFast | kLargeLong;

struct LargeHeader {
    std::uint32_t id = 0;         // 15 bits
    std::uint32_t size_bytes = 0; // of the payload, 16 bits

    friend bool operator==(const LargeHeader&, const LargeHeader&) = default;
};

[[nodiscard]] constexpr std::uint32_t pack_large(const LargeHeader& header) {
    return (header.id & 0x7FFF) << 16 | (header.size_bytes & 0xFFFF);
}

[[nodiscard]] constexpr LargeHeader unpack_large(std::uint32_t word) {
    return {.id = (word >> 16) & 0x7FFF, .size_bytes = word & 0xFFFF};
}

// A full heartbeat, where the layout has heartbeats, is a large header with id 0; its time and payload are the 64 bits.
inline constexpr std::uint32_t kHeartbeatWord = pack_large({.id = 0, .size_bytes = 4});

// Returns the bytes of the large header, the escape included, of an event that begins offset_bytes into the stream.
[[nodiscard]] constexpr std::size_t large_header_bytes(const LayoutRow& row, std::size_t offset_bytes) {
    switch (row.kind) {
    case Kind::select:
    case Kind::large64:
        return 8;
    case Kind::bare:
        return 12;
    case Kind::large96:
        return offset_bytes % 8 == 4 ? 12 : 16;
    }
    return 0;
}

[[nodiscard]] constexpr std::size_t heartbeat_bytes(const LayoutRow& row) {
    return row.kind == Kind::large96 ? 0 : large_header_bytes(row, 0) + 4;
}

[[nodiscard]] constexpr std::size_t padded(std::size_t payload_bytes) {
    return (payload_bytes + 3) / 4 * 4;
}

// All headers fill whole words: 32, 64, and 96 or 128 bits.
static_assert([] {
    for (std::size_t i = 0; i < kLayouts; ++i) {
        const LayoutRow& row = kLayoutRows[i];
        const int header = row.select_bits + row.id_bits + row.tsc_bits;
        const int expected = row.has_compact_headers() ? 32 : row.kind == Kind::large64 ? 64 - 16 : 96 - 16;
        if (header != expected || static_cast<std::size_t>(row.layout) != i) {
            return false;
        }
    }
    return true;
}());
static_assert(row_of(Layout::plan12).turn_bits() == 28 && row_of(Layout::a).turn_bits() == 27);

// Chooses the layout that suits a machine, by what it measured of itself. Times are ticks of the time stamp counter.
// Host-safe. Context: any.
//
// Low bits: two records are at least the cost of one apart, so bits below half of it order nothing.
//   bits that may be cut = max(0, fls(probe) - 1)                 800 ticks -> 9, 200 -> 7, 1 -> 0
// High bits: a turn must outlast twice the time that the timer holds the processor up; in a shorter one each setting of
// the timer would need a heartbeat.
//   bits of a turn >= fls(2 * timer)                              (15 + 10) ms at 4 GHz -> 28 of 32
// fls(n) is the number of the highest bit, counted from 1; fls(0) = 0. Source: LTTng, tsc-smallv1.txt, whose line 121
// exchanges cycles and time, and whose line 128 divides by the rate instead of multiplying. There the timer is the one
// of the periodic heartbeat, together with the longest time with interrupts off; here heartbeats are on demand.

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

// Returns how many events have a compact header in a stream that is written live.
[[nodiscard]] constexpr std::uint32_t live_ids(const LayoutRow& row) {
    const auto simple = std::ranges::count_if(
        kEvents, [](const EventRow& event) { return event.shape == Shape::simple && event.code != 0; });
    return std::min(row.ids(), static_cast<std::uint32_t>(simple));
}

// Chooses among the layouts that cut no bit of use and whose turn is long enough. The one with most ids comes first,
// then the one that cuts least, then the one with the smaller headers. At least large96 remains, because it cuts
// nothing and never turns. The bare layouts are left out: their escape costs four bytes at each large event, and every
// record of a time is one, which is more than their ids save (a run of `control` is 5 % longer in A2 than in A, 4 % in
// D2 than in D).
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
