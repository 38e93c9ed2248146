// SPDX-License-Identifier: MIT
// Implements conditions.
#include "kernel/sync/condition.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace/sync.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last_condition_id = 0;

} // namespace

lib::Result<void> Condition::wait(Mutex& mutex, lib::Ticks until, IrqOff off) {
    if (m_id == 0 || mutex.id() == 0) {
        return lib::Error::invalid_argument;
    }
    Task& self = calling_task(off);
    if (mutex.owner() != &self) {
        return lib::Error::refused;
    }
    m_waiters.enter(self, {.kind = WaitKind::condition, .id = m_id}, until, off);
    trace_points::mutex_unlocked(self, mutex.id());
    mutex.release(off);
    schedule(off);
    const bool timed_out = self.timed_out;
    const auto locked = mutex.lock(self, kForever, off);
    return locked.ok() && timed_out ? lib::Result<void>{lib::Error::timeout} : locked;
}

lib::Result<void> cond_init(Condition& condition, std::string_view name) {
    const IrqGuard guard;
    if (condition.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_condition_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    condition.m_id = ++s_last_condition_id;
    trace_points::condition_created(condition.m_id, name);
    return {};
}

lib::Result<void> cond_wait(Condition& condition, Mutex& mutex) {
    return primitive([&](IrqOff off) -> lib::Result<void> { return condition.wait(mutex, kForever, off); });
}

lib::Result<void> cond_timedwait(Condition& condition, Mutex& mutex, lib::Nanoseconds timeout) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        const bool would_wait = condition.m_id != 0 && mutex.id() != 0 && mutex.owner() == current_task(off);
        if (timeout.value == 0 && would_wait) {
            return lib::Error::timeout;
        }
        return condition.wait(mutex, wait_limit(timeout), off);
    });
}

lib::Result<void> cond_signal(Condition& condition) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        if (condition.m_id == 0) {
            return lib::Error::invalid_argument;
        }
        trace_points::condition_signalled(current_task(off), condition.m_id);
        if (Task* const waiter = condition.m_waiters.first()) {
            condition.m_waiters.wake(*waiter, off);
            schedule(off);
        }
        return {};
    });
}

lib::Result<void> cond_broadcast(Condition& condition) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        if (condition.m_id == 0) {
            return lib::Error::invalid_argument;
        }
        trace_points::condition_broadcast(current_task(off), condition.m_id);
        bool woken = false;
        while (Task* const waiter = condition.m_waiters.first()) {
            condition.m_waiters.wake(*waiter, off);
            woken = true;
        }
        if (woken) {
            schedule(off);
        }
        return {};
    });
}

} // namespace kernel
