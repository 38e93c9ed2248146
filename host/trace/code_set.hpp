// SPDX-License-Identifier: MIT
// Some events of the table, as a table by code: one look-up, where a switch before each call would cost more than what
// most events have to do there. Usage: if (kAnyOf<"task_block", "task_unblock">[event.code]).
#pragma once

#include "host/trace/event.hpp"

#include <array>

namespace host::trace {

template <lib::FixedString... Names>
inline constexpr std::array<bool, 256> kAnyOf = [] {
    std::array<bool, 256> set{};
    ((set[kCodeOf<Names>] = true), ...);
    return set;
}();

// The events that say which records of a family are filtered from there on.
inline constexpr auto kSetsFilter = [] {
    std::array<bool, 256> set{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        set[row.code] = row.name.starts_with("filter_");
    }
    return set;
}();

} // namespace host::trace
