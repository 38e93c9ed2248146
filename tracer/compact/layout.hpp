// SPDX-License-Identifier: MIT
// The headers of a compact stream: how select bit, event id and time share 32 bits, and the two large headers. Headers
// are packed and unpacked only here. Host-safe. Context: any.
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

#include <array>
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

    // The time wraps after 2^turn_bits ticks; 64: never.
    [[nodiscard]] constexpr unsigned turn_bits() const { return static_cast<unsigned>(tsc_bits) + lsb; }

    [[nodiscard]] constexpr bool has_compact_headers() const { return kind == Kind::select || kind == Kind::bare; }

    // Maximum number of ids in a map: in the bare layouts id 0 is the escape.
    [[nodiscard]] constexpr std::uint32_t ids() const {
        return !has_compact_headers() ? 0 : (1U << id_bits) - (kind == Kind::bare ? 1U : 0U);
    }

    // The first id of a map.
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

// Precondition: a layout with compact headers, first_id() <= id < first_id() + ids().
[[nodiscard]] constexpr std::uint32_t pack_compact(const LayoutRow& row, std::uint32_t id, std::uint64_t tsc) {
    return (row.kind == Kind::select ? kSelectBit : 0U) | id << row.tsc_bits |
           (static_cast<std::uint32_t>(tsc >> row.lsb) & row.tsc_mask());
}

// Precondition: is_compact(row, word).
[[nodiscard]] constexpr CompactHeader unpack_compact(const LayoutRow& row, std::uint32_t word) {
    return {.id = (word & ~(row.kind == Kind::select ? kSelectBit : 0U)) >> row.tsc_bits,
            .time = word & row.tsc_mask()};
}

// The word in front of a large header in a bare layout.
[[nodiscard]] constexpr std::uint32_t escape_word(const LayoutRow& row) {
    return row.tsc_mask();
}

[[nodiscard]] constexpr bool is_compact(const LayoutRow& row, std::uint32_t word) {
    return row.kind == Kind::select ? (word & kSelectBit) != 0 : row.kind == Kind::bare && word >> row.tsc_bits != 0;
}

// --- large headers ---------------------------------------------------------------------------------------------------

// id15: what a large header says about its event.
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

// A full heartbeat, where the layout has heartbeats: a large header with id 0 whose time and payload are the 64 bits.
inline constexpr std::uint32_t kHeartbeatWord = pack_large({.id = 0, .size_bytes = 4});

// Bytes of the large header of an event that begins so many bytes into the stream, the escape included.
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

// Headers fill whole words: 32, 64, and 96 or 128 bits.
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

} // namespace tracer::compact
