// SPDX-License-Identifier: MIT
// See cbs.hpp.
#include "kernel/sched/levels/cbs.hpp"

namespace kernel {

bool CbsLevel::accepts(const TaskModel& model) const {
    const auto* const soft = std::get_if<SoftModel>(&model);
    return soft != nullptr && soft->reclaiming == Reclaiming::none;
}

} // namespace kernel
