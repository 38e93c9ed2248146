// SPDX-License-Identifier: MIT
// See queue_level.hpp.
#include "kernel/levels/queue_level.hpp"

#include "kernel/clock.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

lib::Result<void> QueueLevel::guarantee(const TaskModel& model) {
    static_cast<void>(model); // nothing is promised
    return {};
}

void QueueLevel::create(Task& task) {
    task.state = TaskState::sleeping;
}

lib::Result<void> QueueLevel::activate(Task& task, lib::Ticks at) {
    if (task.state != TaskState::sleeping) {
        return lib::Error::busy;
    }
    ++task.jobs.released;
    task.job_begun = false;
    if (at <= now()) {
        unblock(task);
    } else {
        delay_task_irq_off(task, at);
    }
    return {};
}

void QueueLevel::end_cycle(Task& task) {
    trace_points::task_cycle_ended(task);
    finish_job(task);
}

void QueueLevel::sleep(Task& task) {
    trace_points::task_disabled(task);
    finish_job(task);
}

void QueueLevel::finish_job(Task& task) {
    ++task.jobs.completed;
    block(task);
    task.state = TaskState::sleeping;
}

void QueueLevel::block(Task& task) {
    m_ready.remove(task);
}

void QueueLevel::unblock(Task& task) {
    task.state = TaskState::ready;
    m_ready.push_back(task);
}

void QueueLevel::end(Task& task) {
    leave_queue(task);
}

Task* QueueLevel::first() const {
    return m_ready.front();
}

Task* QueueLevel::next(const Task& of) const {
    return m_ready.next(of);
}

void QueueLevel::move_to_end(Task& task) {
    if (static_cast<lib::ListLink<ReadyTag>&>(task).linked()) {
        m_ready.remove(task);
        m_ready.push_back(task);
    }
}

void QueueLevel::leave_queue(Task& task) {
    if (static_cast<lib::ListLink<ReadyTag>&>(task).linked()) {
        m_ready.remove(task);
    }
}

} // namespace kernel
