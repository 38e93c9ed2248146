// SPDX-License-Identifier: MIT
// See background.hpp.
#include "kernel/sched/levels/background.hpp"

namespace kernel {

bool BackgroundLevel::accepts(const TaskModel& model) const {
    return std::holds_alternative<BackgroundModel>(model);
}

Task* BackgroundLevel::first(IrqOff off) const {
    Task* const queued = QueueLevel::first(off);
    return queued != nullptr ? queued : m_idle;
}

void BackgroundLevel::set_idle(Task& task, IrqOff off) {
    ASSERT(m_idle == nullptr && task.level == this && task.state == TaskState::ready);
    leave_queue(task, off);
    m_idle = &task;
}

} // namespace kernel
