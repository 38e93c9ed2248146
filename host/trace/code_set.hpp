// SPDX-License-Identifier: MIT
// Some events of the table, as a table by code: one look-up, where a switch before each call would cost more than what
// most events have to do there. Usage: if (kAnyOf<"task_block", "task_unblock">[event.code]).
#pragma once

#include "host/trace/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace host::trace {

template <lib::FixedString... Names>
inline constexpr std::array<bool, 256> kAnyOf = [] {
    std::array<bool, 256> set{};
    ((set[kCodeOf<Names>] = true), ...);
    return set;
}();

// Several such tables as one: bit n of a code's entry says that it is in the n-th table.
template <typename... Tables>
[[nodiscard]] constexpr std::array<std::uint8_t, 256> bits_of(const Tables&... tables) {
    static_assert(sizeof...(tables) <= 8);
    std::array<std::uint8_t, 256> bits{};
    for (std::size_t code = 0; code < bits.size(); ++code) {
        unsigned bit = 0;
        ((bits[code] = static_cast<std::uint8_t>(bits[code] | static_cast<unsigned>(tables[code]) << bit++)), ...);
    }
    return bits;
}

// The events that say which records of a family are filtered from there on.
inline constexpr auto kSetsFilter = [] {
    std::array<bool, 256> set{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        set[row.code] = row.name.starts_with("filter_");
    }
    return set;
}();

} // namespace host::trace
