// SPDX-License-Identifier: MIT
// See ceilings.hpp.
#include "kernel/sync/ceilings.hpp"

#include "kernel/level.hpp"
#include "kernel/ready_queue.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/sync/chain.hpp"
#include "kernel/trace_sync.hpp"

#include <algorithm>

namespace kernel {

namespace {

constinit Ceilings s_ceilings;

} // namespace

Ceilings& ceilings() {
    return s_ceilings;
}

std::uint64_t preemption_level_irq_off(const Task& task) {
    return task.level->preemption_level(task);
}

std::uint64_t active_preemption_level_irq_off(const Task& task) {
    const Processor& cpu = this_processor();
    const std::uint64_t own = preemption_level_irq_off(task);
    return cpu.exec_shadow == &task ? std::min(own, preemption_level_irq_off(*cpu.exec)) : own;
}

void Ceilings::add(Mutex& mutex) {
    m_all.push_back(mutex);
}

void Ceilings::declare_user(Mutex& mutex, const Task& task) {
    mutex.m_users.insert(task.pid);
    recompute(mutex);
}

void Ceilings::forget_user(const Task& task) {
    for (Mutex* mutex = m_all.front(); mutex != nullptr; mutex = m_all.next(*mutex)) {
        if (mutex->m_users.contains(task.pid)) {
            mutex->m_users.erase(task.pid);
            recompute(*mutex);
        }
    }
}

void Ceilings::level_changed(const Task& task) {
    for (Mutex* mutex = m_all.front(); mutex != nullptr; mutex = m_all.next(*mutex)) {
        if (mutex->m_users.contains(task.pid)) {
            recompute(*mutex);
        }
    }
    if (task.parked_on != nullptr) {
        unpark_irq_off(*task.parked_on);
    }
}

void Ceilings::recompute(Mutex& mutex) {
    std::uint64_t ceiling = kPreemptionLevelNone;
    for (const Task& task : task_table()) {
        if (task.state != TaskState::free && mutex.m_users.contains(task.pid)) {
            ceiling = std::min(ceiling, preemption_level_irq_off(task));
        }
    }
    if (ceiling == mutex.m_ceiling) {
        return;
    }
    const bool locked = mutex.m_owner != nullptr;
    if (locked) {
        let_go(mutex);
    }
    mutex.m_ceiling = ceiling;
    if (locked) {
        hold(mutex);
    }
    trace_points::mutex_ceiling_set(mutex);
}

void Ceilings::hold(Mutex& mutex) {
    unpark_stopped();
    held(mutex).insert(mutex);
}

void Ceilings::let_go(Mutex& mutex) {
    unpark_stopped();
    held(mutex).remove(mutex);
}

void Ceilings::unpark_stopped() const {
    if (const Mutex* const top = top_of_stack()) {
        unpark_irq_off(chain_end(*top->owner()));
    }
}

Mutex* Ceilings::highest_of_others(const Task& task) const {
    Mutex* mutex = m_ceiling.first();
    while (mutex != nullptr && mutex->owner() == &task) {
        mutex = m_ceiling.next(*mutex);
    }
    return mutex;
}

} // namespace kernel
