// SPDX-License-Identifier: MIT
// See rm.hpp; what jobs do is in hard_level.cpp.
#include "kernel/sched/levels/rm.hpp"

namespace kernel {

bool RmLevel::accepts(const TaskModel& model) const {
    const auto* const hard = std::get_if<HardModel>(&model);
    return hard != nullptr && hard->priority == HardPriority::fixed;
}

} // namespace kernel
