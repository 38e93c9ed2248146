// SPDX-License-Identifier: MIT
// Implements ceilings.
#include "kernel/sync/ceilings.hpp"

#include "kernel/sched/chain.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/ready_queue.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/trace/sync.hpp"

#include <algorithm>

namespace kernel {

namespace {

constinit Ceilings s_ceilings;

} // namespace

Ceilings& ceilings() {
    return s_ceilings;
}

std::uint64_t preemption_level(const Task& task, IrqOff off) {
    return task.level->preemption_level(task, off);
}

std::uint64_t active_preemption_level(const Task& task, IrqOff off) {
    const Processor& cpu = this_processor();
    const std::uint64_t own = preemption_level(task, off);
    return cpu.exec_shadow == &task ? std::min(own, preemption_level(*cpu.exec, off)) : own;
}

void Ceilings::add(Mutex& mutex, IrqOff) {
    m_all.push_back(mutex);
}

void Ceilings::declare_user(Mutex& mutex, Task& task, IrqOff off) {
    mutex.m_users.insert(task.pid);
    task.uses_ceilings = true;
    set_ceiling(mutex, std::min(mutex.m_ceiling, preemption_level(task, off)), off);
}

void Ceilings::forget_user(const Task& task, IrqOff off) {
    if (!task.uses_ceilings) {
        return;
    }
    const std::uint64_t level = preemption_level(task, off);
    for (Mutex* mutex = m_all.front(); mutex != nullptr; mutex = m_all.next(*mutex)) {
        if (mutex->m_users.contains(task.pid)) {
            mutex->m_users.erase(task.pid);
            if (level == mutex->m_ceiling) {
                recompute(*mutex, off);
            }
        }
    }
}

void Ceilings::level_changed(const Task& task, IrqOff off) {
    for (Mutex* mutex = m_all.front(); mutex != nullptr; mutex = m_all.next(*mutex)) {
        if (mutex->m_users.contains(task.pid)) {
            recompute(*mutex, off);
        }
    }
    if (task.parked_on != nullptr) {
        unpark(*task.parked_on, off);
    }
}

void Ceilings::recompute(Mutex& mutex, IrqOff off) {
    std::uint64_t ceiling = kPreemptionLevelNone;
    mutex.m_users.for_each([&](Pid pid) {
        const Task& task = *find_task(pid, off);
        ceiling = std::min(ceiling, preemption_level(task, off));
    });
    set_ceiling(mutex, ceiling, off);
}

void Ceilings::set_ceiling(Mutex& mutex, std::uint64_t ceiling, IrqOff off) {
    if (ceiling == mutex.m_ceiling) {
        return;
    }
    const bool locked = mutex.m_owner != nullptr;
    if (locked) {
        let_go(mutex, off);
    }
    mutex.m_ceiling = ceiling;
    if (locked) {
        hold(mutex, off);
    }
    trace_points::mutex_ceiling_set(mutex.m_id, ceiling, kPreemptionLevelNone);
}

void Ceilings::hold(Mutex& mutex, IrqOff off) {
    ASSERT(!lib::kChecked || (mutex.has_ceiling() && mutex.owner() != nullptr));
    unpark_stopped(off);
    held(mutex).insert(mutex);
}

void Ceilings::let_go(Mutex& mutex, IrqOff off) {
    ASSERT(!lib::kChecked || (mutex.has_ceiling() && mutex.owner() != nullptr));
    unpark_stopped(off);
    held(mutex).remove(mutex);
}

void Ceilings::unpark_stopped(IrqOff off) const {
    if (const Resource* const top = stack_resources().first()) {
        unpark(chain_end(*top->owner(), off), off);
    }
}

Mutex* Ceilings::highest_of_others(const Task& task, IrqOff) const {
    Resource* resource = m_ceiling.first();
    while (resource != nullptr && resource->owner() == &task) {
        resource = m_ceiling.next(*resource);
    }
    return resource != nullptr ? &mutex_of(*resource) : nullptr;
}

} // namespace kernel
