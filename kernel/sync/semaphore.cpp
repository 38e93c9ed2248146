// SPDX-License-Identifier: MIT
// Implements semaphores.
#include "kernel/sync/semaphore.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace/sync.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last_semaphore_id = 0;

} // namespace

lib::Result<void> Semaphore::wait(lib::Ticks until, IrqOff off) {
    if (m_id == 0) {
        return lib::Error::invalid_argument;
    }
    Task& self = calling_task(off);
    trace_points::semaphore_waited(&self, m_id);
    if (m_count > 0) {
        --m_count;
        return {};
    }
    m_waiters.enter(self, {.kind = WaitKind::semaphore, .id = m_id}, until, off);
    schedule(off);
    return self.timed_out ? lib::Result<void>{lib::Error::timeout} : lib::Result<void>{};
}

lib::Result<void> sem_init(Semaphore& semaphore, std::string_view name, std::uint32_t count) {
    const IrqGuard guard;
    if (semaphore.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_semaphore_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    semaphore.m_id = ++s_last_semaphore_id;
    semaphore.m_count = count;
    trace_points::semaphore_created(semaphore.m_id, name, count);
    return {};
}

[[gnu::noinline]] lib::Result<void> Semaphore::wait_for_unit(OpenSection section) {
    return primitive([&](IrqOff off) -> lib::Result<void> { return wait(kForever, off); }, section);
}

lib::Result<void> sem_wait(Semaphore& semaphore) {
    return usually(
        [&](IrqOff off) {
            const Task& self = calling_task(off);
            if (semaphore.m_count == 0) { // it is also 0 if the semaphore is not initialised
                return false;
            }
            trace_points::semaphore_waited(&self, semaphore.m_id);
            --semaphore.m_count;
            return true;
        },
        [&](OpenSection section) { return semaphore.wait_for_unit(section); });
}

lib::Result<void> sem_timedwait(Semaphore& semaphore, lib::Nanoseconds timeout) {
    if (timeout.value == 0) {
        return sem_trywait(semaphore);
    }
    return primitive([&](IrqOff off) -> lib::Result<void> { return semaphore.wait(wait_limit(timeout), off); });
}

lib::Result<void> sem_trywait(Semaphore& semaphore) {
    const IrqGuard off;
    if (semaphore.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    if (semaphore.m_count == 0) {
        return lib::Error::busy;
    }
    trace_points::semaphore_waited(current_task(off), semaphore.m_id);
    --semaphore.m_count;
    return {};
}

[[gnu::noinline]] lib::Result<void> Semaphore::post(OpenSection section) {
    return primitive(
        [&](IrqOff off) -> lib::Result<void> {
            Task* const waiter = m_waiters.first(); // only an initialised semaphore has one
            if (waiter == nullptr && m_id == 0) {
                return lib::Error::invalid_argument;
            }
            trace_points::semaphore_posted(current_task(off), m_id);
            if (waiter == nullptr) {
                return lib::Error::no_space;
            }
            m_waiters.wake(*waiter, off);
            schedule(off);
            return {};
        },
        section);
}

lib::Result<void> sem_post(Semaphore& semaphore) {
    return usually(
        [&](IrqOff off) {
            const std::uint32_t count = semaphore.m_count + 1; // 0: the count is at its maximum
            if (count == 0 || semaphore.m_id == 0 || semaphore.m_waiters.first() != nullptr) {
                return false;
            }
            trace_points::semaphore_posted(current_task(off), semaphore.m_id);
            semaphore.m_count = count;
            return true;
        },
        [&](OpenSection section) { return semaphore.post(section); });
}

} // namespace kernel
