// SPDX-License-Identifier: MIT
// See ready_queue.hpp.
#include "kernel/ready_queue.hpp"

#include "kernel/level.hpp"

#include "kernel/trace_points.hpp"

namespace kernel {

namespace {

// Across all queues, so that a guest keeps its rank wherever it stands.
constinit std::uint64_t s_last_rank = 0;

void leave_parking(Task& task) {
    task.parked_on->parked_here.remove(task);
    task.parked_on = nullptr;
}

} // namespace

void ReadyQueue::insert(Task& task, std::uint64_t key) {
    ASSERT(task.ready_in == nullptr);
    task.ready_in = this;
    task.ready_key = key;
    task.ready_rank = ++s_last_rank;
    m_tree.insert(task);
    if (task.suspended) {
        leave_line_irq_off(task);
    } else {
        unpark_irq_off(task);
    }
}

void ReadyQueue::remove(Task& task) {
    ASSERT(task.ready_in == this);
    if (task.parked_on != nullptr) {
        leave_parking(task);
    } else {
        m_tree.remove(task);
    }
    task.ready_in = nullptr;
}

void ReadyQueue::remove_if_there(Task& task) {
    if (holds(task)) {
        remove(task);
    }
}

void ReadyQueue::move(Task& task, std::uint64_t key) {
    remove(task);
    insert(task, key);
}

void park_irq_off(Task& task, Task& end) {
    ASSERT(task.ready_in != nullptr && task.parked_on == nullptr);
    task.ready_in->m_tree.remove(task);
    task.parked_on = &end;
    end.parked_here.push_back(task);
}

void leave_line_irq_off(Task& task) {
    ASSERT(task.ready_in != nullptr);
    if (task.parked_on != nullptr) {
        leave_parking(task);
        task.ready_in->m_tree.insert(task);
    }
    park_irq_off(task, task);
    if (!task.out) {
        task.out = true;
        trace_points::task_suspended(task);
    }
}

void unpark_irq_off(Task& end) {
    while (Task* const task = end.parked_here.front()) {
        leave_parking(*task);
        task->ready_key = task->level->unparked(*task);
        task->ready_in->m_tree.insert(*task);
    }
}

} // namespace kernel
