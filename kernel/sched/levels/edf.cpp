// SPDX-License-Identifier: MIT
// See edf.hpp; what jobs do is in hard_level.cpp.
#include "kernel/sched/levels/edf.hpp"

namespace kernel {

bool EdfLevel::accepts(const TaskModel& model) const {
    const auto* const hard = std::get_if<HardModel>(&model);
    return std::holds_alternative<JobModel>(model) || (hard != nullptr && hard->priority == HardPriority::dynamic);
}

} // namespace kernel
