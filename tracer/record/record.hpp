// SPDX-License-Identifier: MIT
// The trace record has 16 bytes, little-endian, and is the same in memory, on the wire and on disk. It is the published
// layout of the S.Ha.R.K. New Tracer (user manual, volume V, "Tracer output"). Kernel and tools share it.
//
//   0        2        4                8                12               16
//   +--------+--------+----------------+----------------+----------------+
//   |  code  |  par1  |   TSC (high)   |   TSC (low)    |      par2      |     the high half comes FIRST
//   +--------+--------+----------------+----------------+----------------+
//
// code:  15    14   13..12   11..8   7..4    3..0
//       fast | 0 | combine |  page | event | family
#pragma once

#include "lib/endian.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

inline constexpr std::size_t kRecordBytes = 16;

// FAST_TRACER_LOGEVENT sets this bit; readers of the original mask the code with kCodeMask.
inline constexpr std::uint16_t kFastPathBit = 0x8000;
inline constexpr std::uint16_t kCombineMask = 0x3000;
inline constexpr std::uint16_t kCodeMask = 0x00FF;

// A long event spans 1 to 64 slots that share stamp and code; only these two bits differ. An event of one slot is
// simple.
enum class Combine : std::uint16_t {
    simple = 0x0000,
    first = 0x1000,
    middle = 0x2000,
    last = 0x3000,
};

[[nodiscard]] constexpr Combine combine_of(std::size_t slot, std::size_t slots) {
    if (slots == 1) {
        return Combine::simple;
    }
    return slot == 0 ? Combine::first : slot + 1 == slots ? Combine::last : Combine::middle;
}

struct Record {
    std::uint16_t code = 0;
    std::uint16_t par1 = 0;
    std::uint32_t tsc_high = 0;
    std::uint32_t tsc_low = 0;
    std::uint32_t par2 = 0;

    friend bool operator==(const Record&, const Record&) = default;

    [[nodiscard]] constexpr lib::Ticks stamp() const {
        return {(static_cast<std::uint64_t>(tsc_high) << 32) | tsc_low};
    }

    // Returns family and event number, without the flags.
    [[nodiscard]] constexpr std::uint8_t event_code() const { return static_cast<std::uint8_t>(code & kCodeMask); }

    [[nodiscard]] constexpr Combine combine() const { return static_cast<Combine>(code & kCombineMask); }

    // Code 0 marks a slot that was never written; such slots are never exported.
    [[nodiscard]] constexpr bool empty() const { return code == 0; }
};

static_assert(sizeof(Record) == kRecordBytes && alignof(Record) == 4);
static_assert(offsetof(Record, par1) == 2 && offsetof(Record, tsc_high) == 4);
static_assert(offsetof(Record, tsc_low) == 8 && offsetof(Record, par2) == 12);

[[nodiscard]] constexpr Record make_record(std::uint16_t code, std::uint16_t par1, std::uint32_t par2,
                                           lib::Ticks stamp) {
    return {code, par1, static_cast<std::uint32_t>(stamp.value >> 32), static_cast<std::uint32_t>(stamp.value), par2};
}

// Reads a record. Precondition: bytes.size() >= kRecordBytes.
[[nodiscard]] constexpr Record decode_record(std::span<const std::byte> bytes) {
    return {lib::load_le<std::uint16_t>(bytes), lib::load_le<std::uint16_t>(bytes.subspan(2)),
            lib::load_le<std::uint32_t>(bytes.subspan(4)), lib::load_le<std::uint32_t>(bytes.subspan(8)),
            lib::load_le<std::uint32_t>(bytes.subspan(12))};
}

// Writes a record. Precondition: bytes.size() >= kRecordBytes.
constexpr void encode_record(const Record& record, std::span<std::byte> bytes) {
    lib::store_le(bytes, record.code);
    lib::store_le(bytes.subspan(2), record.par1);
    lib::store_le(bytes.subspan(4), record.tsc_high);
    lib::store_le(bytes.subspan(8), record.tsc_low);
    lib::store_le(bytes.subspan(12), record.par2);
}

} // namespace tracer
