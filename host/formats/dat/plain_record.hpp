// SPDX-License-Identifier: MIT
// Plain records are events without further decoding: one slot, a known code, no bit that needs a check, nothing that
// the reader itself must note. Nearly all records of nearly all traces are plain; readers have a fast path for them. A
// record that is not plain may still be valid: the slow path decides.
#pragma once

#include "host/trace/event.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace host::formats::dat {

// Reserved, and the page: page 0 is the only one so far.
inline constexpr std::uint16_t kBitsWithoutMeaning = 0x4F00;

// The record describes the trace instead of being part of it.
[[nodiscard]] constexpr bool is_metadata_family(std::uint16_t code) {
    return static_cast<tracer::Family>(code & 0x0F) == tracer::Family::metadata;
}

// Some seconds. A stamp that is further than this from the record before it and from the one after it, between which
// time does not fall, is no time at all: it is damaged.
inline constexpr std::uint64_t kStrayTicks = std::uint64_t{1} << 32;

// By code; null where the code is not plain.
inline constexpr auto kPlainRows = [] {
    constexpr auto kNoted = std::to_array<std::uint8_t>(
        {trace::kCodeOf<"cycles_per_msec">, trace::kCodeOf<"trace_start">, trace::kCodeOf<"id">,
         trace::kCodeOf<"task_create">, trace::kCodeOf<"numevents">, trace::kCodeOf<"blackout_start">,
         trace::kCodeOf<"blackout_end">, trace::kCodeOf<"clock_compensated">, trace::kCodeOf<"compensation_count">});
    std::array<const tracer::EventRow*, 256> rows{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        const bool plain =
            row.code != 0 && row.shape == tracer::Shape::simple && row.family() != tracer::Family::metadata &&
            std::ranges::find(kNoted, row.code) == kNoted.end() && tracer::canonical_code(row.code) == row.code;
        rows[row.code] = plain ? &row : nullptr;
    }
    return rows;
}();

// Null if the record is not plain. Code 0 (an empty slot) is in no row.
[[nodiscard]] inline const tracer::EventRow* plain_row(std::uint16_t code) {
    return (code & (kBitsWithoutMeaning | tracer::kCombineMask)) == 0 ? kPlainRows[code & tracer::kCodeMask] : nullptr;
}

static_assert(std::endian::native == std::endian::little, "records are copied from memory without conversion");

// decode_record() without its span: for places that have checked the bounds of many records at once.
[[nodiscard]] inline tracer::Record load_record(const std::byte* slot) {
    tracer::Record record;
    __builtin_memcpy(&record, slot, sizeof record);
    return record;
}

// Of the record in a slot: both halves in one load. The high half comes first, so they change places.
[[nodiscard]] inline std::uint64_t load_stamp(const std::byte* slot) {
    std::uint64_t halves = 0;
    __builtin_memcpy(&halves, slot + offsetof(tracer::Record, tsc_high), sizeof halves);
    return std::rotl(halves, 32);
}

} // namespace host::formats::dat
