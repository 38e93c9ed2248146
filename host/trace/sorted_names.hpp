// SPDX-License-Identifier: MIT
// The names of one kind of object in the order of their numbers, for heads of files that list them.
#pragma once

#include "host/trace/names.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace host::trace {

// Of a unit, tasks included; those of names, which outlives them. A name may be empty.
[[nodiscard]] inline std::vector<std::pair<std::uint16_t, std::string_view>> sorted_names(const Names& names,
                                                                                          tracer::Unit unit) {
    std::vector<std::pair<std::uint16_t, std::string_view>> sorted;
    if (unit == tracer::Unit::context) {
        for (const auto& [context, task] : names.tasks()) {
            sorted.emplace_back(context, task.name);
        }
    } else if (const Names::Table* const table = names.entries(unit); table != nullptr) {
        sorted.assign(table->begin(), table->end());
        std::ranges::sort(sorted);
    }
    return sorted;
}

} // namespace host::trace
