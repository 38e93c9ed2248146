// SPDX-License-Identifier: MIT
// See queue_level.hpp.
#include "kernel/levels/queue_level.hpp"

#include "kernel/clock.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

lib::Result<void> QueueLevel::guarantee(const TaskModel& model) {
    static_cast<void>(model); // nothing is promised
    return {};
}

void QueueLevel::create(Task& task) {
    m_saved.drop_all(task);
    task.state = TaskState::sleeping;
}

bool QueueLevel::refuses_activation(const Task& task) const {
    return task.state != TaskState::sleeping && overlap(task) == Overlap::refuse;
}

lib::Result<void> QueueLevel::activate(Task& task, lib::Ticks at) {
    if (task.state != TaskState::sleeping) {
        return m_saved.add(task, overlap(task), at);
    }
    task.released_at = at;
    if (at <= now()) {
        release(task);
    } else {
        task.state = TaskState::delayed;
        task_timer_post_irq_off(task.pid, TaskTimer::delay, at, &QueueLevel::on_activation);
    }
    return {};
}

void QueueLevel::on_activation(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    static_cast<QueueLevel&>(*task.level).release(task);
    schedule_irq_off();
}

void QueueLevel::release(Task& task) {
    ++task.jobs.released;
    task.job_begun = false;
    job_starts(task);
    trace_points::job_released(task, task.released_at);
    unblock(task);
}

void QueueLevel::end_cycle(Task& task) {
    trace_points::task_cycle_ended(task);
    finish_job(task);
    if (const auto at = m_saved.take(task)) {
        task.released_at = *at;
        release(task);
    }
}

void QueueLevel::sleep(Task& task) {
    trace_points::task_disabled(task);
    m_saved.drop_all(task);
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
    m_ready.insert(task, ++m_sequence);
}

void QueueLevel::end(Task& task) {
    leave_queue(task);
    m_saved.drop_all(task);
}

Task* QueueLevel::first() const {
    return m_ready.first();
}

void QueueLevel::move_to_end(Task& task) {
    if (m_ready.holds(task)) {
        m_ready.move(task, ++m_sequence);
    }
}

void QueueLevel::leave_queue(Task& task) {
    m_ready.remove_if_there(task);
}

} // namespace kernel
