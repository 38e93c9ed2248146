// SPDX-License-Identifier: MIT
// Implements what the levels without deadlines share.
#include "kernel/sched/levels/queue_level.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

void QueueLevel::create(Task& task, IrqOff) {
    m_saved.drop_all(task);
    task.state = TaskState::sleeping;
}

bool QueueLevel::refuses_activation(const Task& task, IrqOff) const {
    return task.state != TaskState::sleeping && overlap(task) == Overlap::refuse;
}

lib::Result<void> QueueLevel::activate(Task& task, lib::Ticks at, IrqOff off) {
    if (task.state != TaskState::sleeping) {
        return m_saved.add(task, overlap(task), at);
    }
    task.released_at = at;
    if (at <= now()) {
        release(task, off);
    } else {
        task.state = TaskState::delayed;
        task_timer_post<&QueueLevel::on_activation>(task, TaskTimer::delay, at, off);
    }
    return {};
}

void QueueLevel::on_activation(Task& task, IrqOff off) {
    static_cast<QueueLevel&>(*task.level).release(task, off);
    schedule(off);
}

void QueueLevel::release(Task& task, IrqOff off) {
    ++task.jobs.released;
    task.job_begun = false;
    job_starts(task);
    trace_points::job_released(task, task.released_at);
    unblock(task, off);
}

JobEnd QueueLevel::end_cycle(Task& task, IrqOff off) {
    trace_points::task_cycle_ended(task);
    finish_job(task, off);
    if (const auto at = m_saved.take(task)) {
        task.released_at = *at;
        release(task, off);
    }
    return JobEnd::task_stays;
}

JobEnd QueueLevel::sleep(Task& task, IrqOff off) {
    trace_points::task_disabled(task);
    m_saved.drop_all(task);
    finish_job(task, off);
    return JobEnd::task_stays;
}

void QueueLevel::finish_job(Task& task, IrqOff off) {
    ++task.jobs.completed;
    block(task, off);
    task.state = TaskState::sleeping;
}

void QueueLevel::unblock(Task& task, IrqOff off) {
    task.state = TaskState::ready;
    m_ready.insert(task, ++m_sequence, off);
}

void QueueLevel::end(Task& task, IrqOff off) {
    leave_queue(task, off);
}

void QueueLevel::move_to_end(Task& task, IrqOff off) {
    if (m_ready.holds(task)) {
        m_ready.move(task, ++m_sequence, off);
    }
}

} // namespace kernel
