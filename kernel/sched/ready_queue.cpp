// SPDX-License-Identifier: MIT
// Implements ready queues.
#include "kernel/sched/ready_queue.hpp"

#include "kernel/sched/chain.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

void leave_parking(Task& task) {
    task.parked_on->parked_here.remove(task);
    task.parked_on = nullptr;
}

} // namespace

void ReadyQueue::insert(Task& task, std::uint64_t key, IrqOff off) {
    ASSERT(!lib::kChecked || (task.ready_in == nullptr && task.state == TaskState::ready && task.parked_on == nullptr));
    task.ready_in = this;
    task.ready_key = key;
    task.ready_rank = ++detail::last_rank;
    if (task.suspended || !task.parked_here.empty()) {
        insert_and_park(task, off);
        return;
    }
    m_tree.insert(task);
}

// Is separate from insert(), which then calls nothing and saves no register.
void ReadyQueue::insert_and_park(Task& task, IrqOff off) {
    m_tree.insert(task);
    if (task.suspended) {
        park_suspended(task, off);
    } else {
        unpark(task, off);
    }
}

void ReadyQueue::remove(Task& task, IrqOff) {
    ASSERT(!lib::kChecked || task.ready_in == this);
    if (task.parked_on != nullptr) {
        leave_parking(task);
    } else {
        m_tree.remove(task);
    }
    task.ready_in = nullptr;
}

void ReadyQueue::remove_if_there(Task& task, IrqOff off) {
    if (holds(task)) {
        remove(task, off);
    }
}

void ReadyQueue::move(Task& task, std::uint64_t key, IrqOff off) {
    remove(task, off);
    insert(task, key, off);
}

void park(Task& task, Task& end, IrqOff) {
    ASSERT(task.ready_in != nullptr && task.parked_on == nullptr);
    ASSERT(!lib::kChecked || !end.can_run());
    task.ready_in->m_tree.remove(task);
    task.parked_on = &end;
    end.parked_here.push_back(task);
    if (end.blocked_on != nullptr && &end != &task) {
        end.blocked_on->stall(end);
    }
}

void park_suspended(Task& task, IrqOff off) {
    ASSERT(task.ready_in != nullptr);
    if (task.parked_on != nullptr) {
        leave_parking(task);
        task.ready_in->m_tree.insert(task);
    }
    park(task, task, off);
    if (!task.out) {
        task.out = true;
        trace_points::task_suspended(task);
    }
}

void detail::unpark_all(Task& end, IrqOff off) {
    while (Task* const task = end.parked_here.front()) {
        leave_parking(*task);
        task->ready_key = task->level->unparked(*task, off);
        task->ready_in->m_tree.insert(*task);
    }
    ASSERT(!lib::kChecked || end.parked_here.empty());
}

} // namespace kernel
