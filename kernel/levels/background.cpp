// SPDX-License-Identifier: MIT
// See background.hpp.
#include "kernel/levels/background.hpp"

namespace kernel {

bool BackgroundLevel::accepts(const TaskModel& model) const {
    return std::holds_alternative<BackgroundModel>(model);
}

Task* BackgroundLevel::first() const {
    Task* const queued = QueueLevel::first();
    return queued != nullptr ? queued : m_idle;
}

void BackgroundLevel::set_idle(Task& task) {
    ASSERT(m_idle == nullptr && task.level == this && task.state == TaskState::ready);
    leave_queue(task);
    m_idle = &task;
}

} // namespace kernel
