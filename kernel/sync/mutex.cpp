// SPDX-License-Identifier: MIT
// See mutex.hpp. Whose shadow a waiter has follows from the mutex alone (chain.hpp): the owner while there is one,
// itself while the mutex is free. So a mutex changes hands in constant time, however many wait for it.
#include "kernel/sync/mutex.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/level.hpp"
#include "kernel/ready_queue.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/sync/ceilings.hpp"
#include "kernel/sync/chain.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace_points.hpp"
#include "kernel/trace_sync.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last_id = 0;

Task& self_irq_off() {
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    return *self;
}

} // namespace

bool Mutex::admits(const Task& task) const {
    return m_id != 0 && (!has_ceiling() || m_users.contains(task.pid));
}

// The mutex that keeps the task from taking this one: itself, or with ceilings another one. Null: it may have it.
Mutex* Mutex::obstacle_irq_off(const Task& task) {
    if (m_protocol == MutexProtocol::ceiling) {
        Mutex* const highest = ceilings().highest_of_others(task);
        if (highest != nullptr && active_preemption_level_irq_off(task) >= highest->m_ceiling) {
            return highest;
        }
    }
    return m_owner != nullptr ? this : nullptr;
}

// Whether the owner is this task, or waits for it by mutexes of whatever protocol.
bool Mutex::held_up_by(const Task& task) const {
    const Mutex* mutex = this;
    for (std::size_t steps = 0; mutex != nullptr && mutex->m_owner != nullptr; ++steps) {
        ASSERT(steps <= kTasksMax);
        if (mutex->m_owner == &task) {
            return true;
        }
        mutex = mutex->m_owner->blocked_on;
    }
    return false;
}

lib::Result<void> Mutex::refuse_irq_off(Task& task) {
    trace_points::mutex_deadlock_refused(task, *this);
    return lib::Error::refused;
}

// Whoever is woken looks again at what is in its way: it may be another mutex by now, even one that would close a
// cycle.
lib::Result<void> Mutex::lock_irq_off(Task& task, lib::Ticks until) {
    if (!admits(task)) {
        return lib::Error::invalid_argument;
    }
    Mutex* obstacle = obstacle_irq_off(task);
    if (m_owner == &task || (obstacle != nullptr && obstacle->held_up_by(task))) {
        return refuse_irq_off(task);
    }
    trace_points::mutex_lock_attempted(task, *this);
    task.locking = this;
    if (obstacle != nullptr && takes_places()) {
        start_timeout_irq_off(task, until);
    }
    while (obstacle != nullptr) {
        obstacle->wait_irq_off(task, until);
        if (m_owner == &task) {
            return {}; // handed over
        }
        if (task.timed_out) {
            return lib::Error::timeout;
        }
        obstacle = obstacle_irq_off(task);
        if (obstacle != nullptr && obstacle->held_up_by(task)) {
            leave_waits_irq_off(task);
            return refuse_irq_off(task);
        }
    }
    leave_waits_irq_off(task);
    take_irq_off(task);
    return {};
}

// Returns when it is worth looking again.
void Mutex::wait_irq_off(Task& task, lib::Ticks until) {
    give_up_irq_off();
    if (task.blocked_on != this) {
        if (task.blocked_on != nullptr) {
            task.blocked_on->forget_waiter_irq_off(task);
        }
        ++m_contentions;
        ++m_waiters;
        task.blocked_on = this;
    }
    if (!takes_places()) {
        m_queue.enter_irq_off(task, {.kind = WaitKind::mutex, .id = m_id}, until);
        schedule_irq_off();
        return;
    }
    trace_points::mutex_blocked(task, *this);
    trace_points::mutex_inherited(*m_owner, *this);
    scheduler_irq_off();
    trace_points::inherited(this_processor());
    context_load_irq_off();
}

void Mutex::take_irq_off(Task& task) {
    ASSERT(m_owner == nullptr && task.blocked_on == nullptr);
    m_owner = &task;
    task.owned.push_back(*this);
    if (has_ceiling()) {
        ceilings().hold(*this);
    }
    trace_points::mutex_acquired(task, *this);
    if (m_waiters != 0 && takes_places()) {
        trace_points::mutex_inherited(task, *this);
    }
}

void Mutex::release_irq_off() {
    Task& end = chain_end(*m_owner);
    if (has_ceiling()) {
        ceilings().let_go(*this);
    }
    m_owner->owned.remove(*this);
    m_owner = nullptr;
    unpark_irq_off(end);
    if (Task* const waiter = m_queue.first()) {
        forget_waiter_irq_off(*waiter);
        take_irq_off(*waiter);
        m_queue.wake_irq_off(*waiter);
    }
}

void Mutex::abandon_irq_off() {
    m_abandoned = true;
    trace_points::mutex_owner_died(*m_owner, *this);
    release_irq_off();
}

void Mutex::forget_waiter_irq_off(Task& task) {
    ASSERT(task.blocked_on == this);
    Task& end = chain_end(task);
    --m_waiters;
    task.blocked_on = nullptr;
    unpark_irq_off(end);
}

lib::Result<void> mutex_init(Mutex& mutex, const MutexOptions& options) {
    const IrqGuard guard;
    if (mutex.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    mutex.m_id = ++s_last_id;
    mutex.m_protocol = options.protocol;
    if (mutex.has_ceiling()) {
        ceilings().add(mutex);
    }
    trace_points::mutex_created(current_task_irq_off(), mutex, options.name);
    return {};
}

lib::Result<void> mutex_declare_user(Mutex& mutex, Pid pid) {
    const IrqGuard guard;
    if (mutex.m_id == 0 || !mutex.has_ceiling()) {
        return lib::Error::invalid_argument;
    }
    const Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    ceilings().declare_user(mutex, *task);
    schedule_irq_off();
    return {};
}

lib::Result<void> mutex_lock(Mutex& mutex) {
    const IrqGuard guard;
    return mutex.lock_irq_off(self_irq_off(), kForever);
}

lib::Result<void> mutex_timedlock(Mutex& mutex, lib::Nanoseconds timeout) {
    if (timeout.value == 0) {
        return mutex_trylock(mutex);
    }
    const IrqGuard guard;
    return mutex.lock_irq_off(self_irq_off(), wait_limit(timeout));
}

lib::Result<void> mutex_trylock(Mutex& mutex) {
    const IrqGuard guard;
    Task& self = self_irq_off();
    if (!mutex.admits(self)) {
        return lib::Error::invalid_argument;
    }
    if (mutex.m_owner == &self) {
        return lib::Error::refused;
    }
    if (mutex.obstacle_irq_off(self) != nullptr) {
        return lib::Error::busy;
    }
    trace_points::mutex_lock_attempted(self, mutex);
    mutex.take_irq_off(self);
    return {};
}

lib::Result<void> mutex_unlock(Mutex& mutex) {
    const IrqGuard guard;
    if (mutex.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    const Task& self = self_irq_off();
    if (mutex.m_owner != &self) {
        return lib::Error::refused;
    }
    trace_points::mutex_unlocked(self, mutex);
    const bool awaited = mutex.m_waiters != 0;
    mutex.release_irq_off();
    if (mutex.m_protocol == MutexProtocol::stack) {
        scheduler_irq_off(); // jobs may begin that were stopped
        trace_points::inherited(this_processor());
        context_load_irq_off();
    } else if (awaited) {
        schedule_irq_off();
    }
    return {};
}

bool mutex_abandoned(const Mutex& mutex) {
    return mutex.m_abandoned;
}

lib::Result<void> mutex_consistent(Mutex& mutex) {
    const IrqGuard guard;
    if (mutex.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    if (mutex.m_owner != &self_irq_off()) {
        return lib::Error::refused;
    }
    mutex.m_abandoned = false;
    return {};
}

} // namespace kernel
