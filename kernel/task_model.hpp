// SPDX-License-Identifier: MIT
// What a task asks of the scheduler, in the published words: HARD (a periodic task with a worst-case execution time and
// a deadline), NRT (no guarantee, time slices), and BACKGROUND (only when nobody else wants the processor). A level is
// chosen by the model alone. All times in nanoseconds.
#pragma once

#include "kernel/config.hpp"
#include "lib/assert.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <variant>

namespace kernel {

struct HardModel {
    lib::Nanoseconds wcet;              // of one job; 0 < wcet <= relative deadline
    lib::Nanoseconds period;            // the published "mit"; > 0
    lib::Nanoseconds relative_deadline; // 0 stands for the period; at most the period
    lib::Nanoseconds offset;            // from activation to the first release
};

struct NrtModel {
    lib::Nanoseconds slice = kSliceDefault; // > 0
    std::uint32_t weight = 1;               // for proportional-share levels; round robin treats all alike
};

struct BackgroundModel {};

using TaskModel = std::variant<HardModel, NrtModel, BackgroundModel>;

// Precondition: the model is of this kind.
template <typename Kind>
[[nodiscard]] const Kind& model_as(const TaskModel& model) {
    const Kind* const kind = std::get_if<Kind>(&model);
    ASSERT(kind != nullptr);
    return *kind;
}

} // namespace kernel
