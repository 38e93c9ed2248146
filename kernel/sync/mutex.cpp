// SPDX-License-Identifier: MIT
// See mutex.hpp. Whose shadow a waiter has follows from the mutex alone (chain.hpp): the owner while there is one,
// itself while the mutex is free. So a mutex changes hands in constant time, however many wait for it.
#include "kernel/sync/mutex.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/ready_queue.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/sync/chain.hpp"
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
    if (task.blocked_on == this) {
        forget_waiter_irq_off(task);
    }
    m_owner = &task;
    task.owned.push_back(*this);
    trace_points::mutex_acquired(task, *this);
    if (m_waiters != 0) {
        trace_points::mutex_inherited(task, *this);
    }
}

void Mutex::block_irq_off(Task& task) {
    if (task.blocked_on == nullptr) {
        ++m_contentions;
        task.blocked_on = this;
        ++m_waiters;
        trace_points::mutex_blocked(task, *this);
    }
    trace_points::mutex_inherited(*m_owner, *this);
}

void Mutex::release_irq_off() {
    Task& end = chain_end(*m_owner);
    m_owner->owned.remove(*this);
    m_owner = nullptr;
    unpark_irq_off(end);
}

void Mutex::forget_waiter_irq_off(Task& task) {
    Task& end = chain_end(task);
    --m_waiters;
    task.blocked_on = nullptr;
    unpark_irq_off(end);
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
    if (mutex.m_owner != nullptr && &chain_end(*mutex.m_owner) == &self) {
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
    const bool awaited = mutex.m_waiters != 0;
    mutex.release_irq_off();
    if (awaited) {
        schedule_irq_off();
    }
    return {};
}

} // namespace kernel
