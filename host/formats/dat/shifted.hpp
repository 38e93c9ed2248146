// SPDX-License-Identifier: MIT
// A chunk that has lost or gained bytes, at one place or several: the records after each place are off their slots, and
// read from there they would make no sense. Between two places they are found again, wherever they begin. A chunk that
// was merely cut, has bytes after its last record, or slots that are no records in their places, is not one of these.
//
//      |  stretch  | place |  stretch  | place |  stretch  |          each stretch is whole slots; a place is left out
#pragma once

#include "host/trace/byte_source.hpp"
#include "lib/units.hpp"
#include "tracer/record/record.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace host::formats::dat {

// Slots in a row, none of which is off its place.
struct Stretch {
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0; // of the last one of a file that was cut, some bytes after its last slot
    std::uint64_t index = 0;     // of the first slot in the chunk: exact if all places lost bytes, or all gained some
    std::optional<std::uint64_t> place_bytes{}; // where the place before it begins; none: there is none
};

// What the header of a chunk announces, in slots.
struct Announced {
    std::uint64_t preamble = 0;
    std::uint64_t records = 0;
};

// Stamps of one chunk are close to each other: some hours.
inline constexpr std::uint64_t kStampsApartMax = std::uint64_t{1} << 45;

// By what a slot shows: its code is known, and its stamp close to this one.
[[nodiscard]] bool looks_like_a_record(const tracer::Record& record, lib::Ticks near);

// The stretches of the chunk that begins at begin_bytes, up to end_bytes or the next chunk. The first begins there, the
// last one ends there, and either may be empty. Nothing if no place has lost or gained bytes, or if the source cannot
// be read. Found are stretches of eight records or more, two or more at the end; of each, the first and the last record
// (a long event is one) are left out where they may have lost bytes that nothing shows.
[[nodiscard]] std::vector<Stretch> find_stretches(trace::ByteSource& source, std::uint64_t begin_bytes,
                                                  std::uint64_t end_bytes, std::optional<Announced> announced);

} // namespace host::formats::dat
