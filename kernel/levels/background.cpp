// SPDX-License-Identifier: MIT
// See background.hpp.
#include "kernel/levels/background.hpp"

#include "kernel/clock.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

bool BackgroundLevel::accepts(const TaskModel& model) const {
    return std::holds_alternative<BackgroundModel>(model);
}

lib::Result<void> BackgroundLevel::guarantee(const TaskModel& model) {
    static_cast<void>(model);
    return {};
}

void BackgroundLevel::create(Task& task) {
    task.state = TaskState::sleeping;
}

lib::Result<void> BackgroundLevel::activate(Task& task, lib::Ticks at) {
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

void BackgroundLevel::end_cycle(Task& task) {
    trace_points::task_cycle_ended(task);
    ++task.jobs.completed;
    block(task);
    task.state = TaskState::sleeping;
}

void BackgroundLevel::sleep(Task& task) {
    trace_points::task_disabled(task);
    ++task.jobs.completed;
    block(task);
    task.state = TaskState::sleeping;
}

void BackgroundLevel::block(Task& task) {
    m_ready.remove(task);
}

void BackgroundLevel::unblock(Task& task) {
    task.state = TaskState::ready;
    m_ready.push_back(task);
}

void BackgroundLevel::end(Task& task) {
    if (static_cast<lib::ListLink<ReadyTag>&>(task).linked()) {
        m_ready.remove(task);
    }
}

Task* BackgroundLevel::first() const {
    return m_ready.empty() ? m_idle : m_ready.front();
}

Task* BackgroundLevel::next(const Task& of) const {
    if (&of == m_idle) {
        return nullptr;
    }
    Task* const next = m_ready.next(of);
    return next != nullptr ? next : m_idle;
}

void BackgroundLevel::set_idle(Task& task) {
    ASSERT(m_idle == nullptr && task.level == this && task.state == TaskState::ready);
    m_ready.remove(task);
    m_idle = &task;
}

} // namespace kernel
