// SPDX-License-Identifier: MIT
// Orders waiters, and enters them into a queue and takes them out.
#include "kernel/sync/waiting.hpp"

#include "kernel/sched/level.hpp"

namespace kernel {

bool WaitBefore::operator()(const Task& a, const Task& b) const {
    const std::uint16_t level_a = a.level->queue_index();
    const std::uint16_t level_b = b.level->queue_index();
    return level_a != level_b ? level_a < level_b : a.ready_key < b.ready_key;
}

void WaitQueue::enter(Task& task, Wait wait, lib::Ticks until, IrqOff off) {
    ASSERT(!lib::kChecked || (task.waiting_on == nullptr && task.state == TaskState::ready));
    block_task(task, wait, off);
    task.waiting_on = this;
    m_tree.insert(task);
    start_timeout(task, until, off);
}

void WaitQueue::remove(Task& task, IrqOff) {
    ASSERT(!lib::kChecked || task.waiting_on == this);
    m_tree.remove(task);
    task.waiting_on = nullptr;
}

void WaitQueue::wake(Task& task, IrqOff off) {
    remove(task, off);
    if (task.wait_limited) {
        stop_timeout(task, off);
    }
    unblock_task(task, off);
}

} // namespace kernel
