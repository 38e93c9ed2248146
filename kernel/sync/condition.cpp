// SPDX-License-Identifier: MIT
// See condition.hpp.
#include "kernel/sync/condition.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace_sync.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last_id = 0;

} // namespace

lib::Result<void> Condition::wait_irq_off(Mutex& mutex, lib::Ticks until) {
    if (m_id == 0 || mutex.id() == 0) {
        return lib::Error::invalid_argument;
    }
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    if (mutex.owner() != self) {
        return lib::Error::refused;
    }
    m_waiters.enter_irq_off(*self, {.kind = WaitKind::condition, .id = m_id}, until);
    trace_points::mutex_unlocked(*self, mutex);
    mutex.release_irq_off();
    schedule_irq_off();
    const bool timed_out = self->timed_out;
    const auto locked = mutex.lock_irq_off(*self, kForever);
    return locked.ok() && timed_out ? lib::Result<void>{lib::Error::timeout} : locked;
}

lib::Result<void> cond_init(Condition& condition, std::string_view name) {
    const IrqGuard guard;
    if (condition.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    condition.m_id = ++s_last_id;
    trace_points::condition_created(condition, name);
    return {};
}

lib::Result<void> cond_wait(Condition& condition, Mutex& mutex) {
    const IrqGuard guard;
    return condition.wait_irq_off(mutex, kForever);
}

lib::Result<void> cond_timedwait(Condition& condition, Mutex& mutex, lib::Nanoseconds timeout) {
    const IrqGuard guard;
    const bool would_wait = condition.m_id != 0 && mutex.id() != 0 && mutex.owner() == current_task_irq_off();
    if (timeout.value == 0 && would_wait) {
        return lib::Error::timeout;
    }
    return condition.wait_irq_off(mutex, wait_limit(timeout));
}

lib::Result<void> cond_signal(Condition& condition) {
    const IrqGuard guard;
    if (condition.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    trace_points::condition_signalled(current_task_irq_off(), condition);
    if (Task* const waiter = condition.m_waiters.first()) {
        condition.m_waiters.wake_irq_off(*waiter);
        schedule_irq_off();
    }
    return {};
}

lib::Result<void> cond_broadcast(Condition& condition) {
    const IrqGuard guard;
    if (condition.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    trace_points::condition_broadcast(current_task_irq_off(), condition);
    bool woken = false;
    while (Task* const waiter = condition.m_waiters.first()) {
        condition.m_waiters.wake_irq_off(*waiter);
        woken = true;
    }
    if (woken) {
        schedule_irq_off();
    }
    return {};
}

} // namespace kernel
