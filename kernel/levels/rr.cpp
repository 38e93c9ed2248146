// SPDX-License-Identifier: MIT
// See rr.hpp. The capacity timer of a task ends its slice.
#include "kernel/levels/rr.hpp"

#include "kernel/clock.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

bool RoundRobinLevel::accepts(const TaskModel& model) const {
    return std::holds_alternative<NrtModel>(model);
}

lib::Result<void> RoundRobinLevel::guarantee(const TaskModel& model) {
    const auto& nrt = model_as<NrtModel>(model);
    if (nrt.slice.value == 0 || nrt.weight == 0) {
        return lib::Error::invalid_argument;
    }
    return {};
}

void RoundRobinLevel::create(Task& task) {
    const lib::Ticks slice = to_ticks(model_as<NrtModel>(task.model).slice);
    m_shares[task.pid.value] = {.slice = slice, .left = slice, .begun_at = {}};
    task.state = TaskState::sleeping;
}

lib::Result<void> RoundRobinLevel::activate(Task& task, lib::Ticks at) {
    if (task.state != TaskState::sleeping) {
        return lib::Error::busy;
    }
    Share& share = m_shares[task.pid.value];
    share.left = share.slice;
    ++task.jobs.released;
    task.job_begun = false;
    if (at <= now()) {
        unblock(task);
    } else {
        delay_task_irq_off(task, at);
    }
    return {};
}

void RoundRobinLevel::end_cycle(Task& task) {
    trace_points::task_cycle_ended(task);
    ++task.jobs.completed;
    block(task);
    task.state = TaskState::sleeping;
}

void RoundRobinLevel::sleep(Task& task) {
    trace_points::task_disabled(task);
    ++task.jobs.completed;
    block(task);
    task.state = TaskState::sleeping;
}

void RoundRobinLevel::block(Task& task) {
    m_ready.remove(task);
}

void RoundRobinLevel::unblock(Task& task) {
    task.state = TaskState::ready;
    m_ready.push_back(task);
}

void RoundRobinLevel::end(Task& task) {
    task_timer_delete_irq_off(task.pid, TaskTimer::capacity);
    if (static_cast<lib::ListLink<ReadyTag>&>(task).linked()) {
        m_ready.remove(task);
    }
}

Task* RoundRobinLevel::first() const {
    return m_ready.front();
}

Task* RoundRobinLevel::next(const Task& of) const {
    return m_ready.next(of);
}

void RoundRobinLevel::slot_begin(Task& task) {
    Share& share = m_shares[task.pid.value];
    share.begun_at = now();
    task_timer_post_irq_off(task.pid, TaskTimer::capacity, share.begun_at + share.left, &RoundRobinLevel::slice_over);
}

void RoundRobinLevel::slot_end(Task& task, lib::Ticks elapsed) {
    static_cast<void>(elapsed); // a slot may span several slices: begun_at is later than the dispatch then
    task_timer_delete_irq_off(task.pid, TaskTimer::capacity);
    Share& share = m_shares[task.pid.value];
    const lib::Ticks used = now() - share.begun_at;
    if (used < share.left) {
        share.left = share.left - used;
    } else {
        rotate(task);
    }
}

void RoundRobinLevel::rotate(Task& task) {
    Share& share = m_shares[task.pid.value];
    share.left = share.slice;
    if (static_cast<lib::ListLink<ReadyTag>&>(task).linked()) {
        m_ready.remove(task);
        m_ready.push_back(task);
    }
}

// The slot goes on until the scheduler takes it away; a task that is alone simply starts its next slice.
void RoundRobinLevel::slice_over(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    auto& level = static_cast<RoundRobinLevel&>(*task.level);
    level.rotate(task);
    level.slot_begin(task);
    schedule_irq_off();
}

} // namespace kernel
