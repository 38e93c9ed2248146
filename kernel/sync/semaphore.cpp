// SPDX-License-Identifier: MIT
// See semaphore.hpp.
#include "kernel/sync/semaphore.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace_sync.hpp"

#include <limits>

namespace kernel {

namespace {

constinit std::uint16_t s_last_id = 0;

} // namespace

lib::Result<void> Semaphore::wait_irq_off(lib::Ticks until) {
    if (m_id == 0) {
        return lib::Error::invalid_argument;
    }
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    trace_points::semaphore_waited(self, *this);
    if (m_count > 0) {
        --m_count;
        return {};
    }
    m_waiters.enter_irq_off(*self, {.kind = WaitKind::semaphore, .id = m_id}, until);
    schedule_irq_off();
    return self->timed_out ? lib::Result<void>{lib::Error::timeout} : lib::Result<void>{};
}

lib::Result<void> sem_init(Semaphore& semaphore, std::string_view name, std::uint32_t count) {
    const IrqGuard guard;
    if (semaphore.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    semaphore.m_id = ++s_last_id;
    semaphore.m_count = count;
    trace_points::semaphore_created(semaphore, name, count);
    return {};
}

lib::Result<void> sem_wait(Semaphore& semaphore) {
    const IrqGuard guard;
    return semaphore.wait_irq_off(kForever);
}

lib::Result<void> sem_timedwait(Semaphore& semaphore, lib::Nanoseconds timeout) {
    if (timeout.value == 0) {
        return sem_trywait(semaphore);
    }
    const IrqGuard guard;
    return semaphore.wait_irq_off(wait_limit(timeout));
}

lib::Result<void> sem_trywait(Semaphore& semaphore) {
    const IrqGuard guard;
    if (semaphore.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    if (semaphore.m_count == 0) {
        return lib::Error::busy;
    }
    trace_points::semaphore_waited(current_task_irq_off(), semaphore);
    --semaphore.m_count;
    return {};
}

lib::Result<void> sem_post(Semaphore& semaphore) {
    const IrqGuard guard;
    if (semaphore.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    trace_points::semaphore_posted(current_task_irq_off(), semaphore);
    Task* const waiter = semaphore.m_waiters.first();
    if (waiter == nullptr) {
        if (semaphore.m_count == std::numeric_limits<std::uint32_t>::max()) {
            return lib::Error::no_space;
        }
        ++semaphore.m_count;
        return {};
    }
    semaphore.m_waiters.wake_irq_off(*waiter);
    schedule_irq_off();
    return {};
}

} // namespace kernel
