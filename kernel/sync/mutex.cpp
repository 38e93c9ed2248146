// SPDX-License-Identifier: MIT
// See mutex.hpp. The invariant, at every point where interrupts are on: while the mutex is owned, the shadow of each of
// its waiters is the owner; while it is free, each waiter is its own shadow.
#include "kernel/sync/mutex.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last_id = 0;

Task& self_irq_off() {
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    return *self;
}

} // namespace

void Mutex::take_irq_off(Task& task) {
    m_owner = &task;
    task.owned.push_back(*this);
    if (task.blocked_on == this) {
        m_waiters.remove(task);
        task.blocked_on = nullptr;
    }
    for (Task* waiter = m_waiters.front(); waiter != nullptr; waiter = m_waiters.next(*waiter)) {
        waiter->shadow = &task;
        trace_points::mutex_inherited(task, *this);
    }
}

void Mutex::block_irq_off(Task& task) {
    if (task.blocked_on == nullptr) {
        ++m_contentions;
        task.blocked_on = this;
        m_waiters.push_back(task);
    }
    task.shadow = m_owner;
    trace_points::mutex_inherited(*m_owner, *this);
}

void Mutex::release_irq_off() {
    m_owner->owned.remove(*this);
    m_owner = nullptr;
    for (Task* waiter = m_waiters.front(); waiter != nullptr; waiter = m_waiters.next(*waiter)) {
        waiter->shadow = waiter;
    }
}

void Mutex::forget_waiter_irq_off(Task& task) {
    m_waiters.remove(task);
    task.blocked_on = nullptr;
    task.shadow = &task;
}

lib::Result<void> mutex_init(Mutex& mutex, std::string_view name) {
    const IrqGuard guard;
    if (mutex.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    mutex.m_id = ++s_last_id;
    trace_points::mutex_created(current_task_irq_off(), mutex, name);
    return {};
}

lib::Result<void> mutex_lock(Mutex& mutex) {
    const IrqGuard guard;
    if (mutex.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    Task& self = self_irq_off();
    if (mutex.m_owner != nullptr && &mutex.m_owner->chain_end() == &self) {
        return lib::Error::refused; // not later: whoever takes a mutex becomes the shadow of all who wait for it
    }
    trace_points::mutex_lock_attempted(self, mutex);
    while (mutex.m_owner != nullptr) {
        give_up_irq_off();
        mutex.block_irq_off(self);
        scheduler_irq_off();
        trace_points::inherited(this_processor());
        context_load_irq_off();
    }
    mutex.take_irq_off(self);
    return {};
}

lib::Result<void> mutex_trylock(Mutex& mutex) {
    const IrqGuard guard;
    if (mutex.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    Task& self = self_irq_off();
    if (mutex.m_owner == &self) {
        return lib::Error::refused;
    }
    if (mutex.m_owner != nullptr) {
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
    const bool awaited = !mutex.m_waiters.empty();
    mutex.release_irq_off();
    if (awaited) {
        schedule_irq_off();
    }
    return {};
}

} // namespace kernel
