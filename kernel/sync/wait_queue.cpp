// SPDX-License-Identifier: MIT
// See wait_queue.hpp.
#include "kernel/sync/wait_queue.hpp"

#include "kernel/level.hpp"
#include "kernel/sync/waiting.hpp"

namespace kernel {

bool WaitBefore::operator()(const Task& a, const Task& b) const {
    const std::uint16_t level_a = a.level->queue_index();
    const std::uint16_t level_b = b.level->queue_index();
    return level_a != level_b ? level_a < level_b : a.ready_key < b.ready_key;
}

void WaitQueue::enter_irq_off(Task& task, Wait wait, lib::Ticks until) {
    ASSERT(task.waiting_on == nullptr);
    block_task_irq_off(task, wait);
    task.waiting_on = this;
    m_tree.insert(task);
    start_timeout_irq_off(task, until);
}

void WaitQueue::wake_irq_off(Task& task) {
    remove_irq_off(task);
    stop_timeout_irq_off(task);
    unblock_task_irq_off(task);
}

void WaitQueue::remove_irq_off(Task& task) {
    ASSERT(task.waiting_on == this);
    m_tree.remove(task);
    task.waiting_on = nullptr;
}

} // namespace kernel
