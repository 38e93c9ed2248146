// SPDX-License-Identifier: MIT
// Which records are events just as they stand: one slot, a known code, no bit that asks for a second look, nothing that
// the reader itself must take note of. Nearly all records of nearly all traces are; readers keep a short way for them.
// What is not plain is not wrong: the long way decides.
#pragma once

#include "host/trace/event.hpp"
#include "tracer/record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace host::trace {

// Reserved, and the page: page 0 is the only one so far.
inline constexpr std::uint16_t kBitsWithoutMeaning = 0x4F00;

namespace detail {

constexpr bool is_plain_row(const tracer::EventRow& row) {
    constexpr auto kNoted = std::to_array<std::uint8_t>({kCodeOf<"cycles_per_msec">, kCodeOf<"trace_start">,
                                                         kCodeOf<"id">, kCodeOf<"task_create">, kCodeOf<"numevents">,
                                                         kCodeOf<"blackout_start">, kCodeOf<"blackout_end">,
                                                         kCodeOf<"clock_compensated">, kCodeOf<"compensation_count">});
    return row.shape == tracer::Shape::simple && row.family() != tracer::Family::metadata &&
           std::ranges::find(kNoted, row.code) == kNoted.end() && tracer::canonical_code(row.code) == row.code;
}

} // namespace detail

// By code; null where the code is not plain.
inline constexpr auto kPlainRows = [] {
    std::array<const tracer::EventRow*, 256> rows{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        rows[row.code] = detail::is_plain_row(row) ? &row : nullptr;
    }
    return rows;
}();

// Null if the record is not plain. Code 0 (an empty slot) is in no row.
[[nodiscard]] inline const tracer::EventRow* plain_row(std::uint16_t code) {
    return (code & (kBitsWithoutMeaning | tracer::kCombineMask)) == 0 ? kPlainRows[code & tracer::kCodeMask] : nullptr;
}

static_assert(std::endian::native == std::endian::little, "records are read as they lie in memory");

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

} // namespace host::trace
