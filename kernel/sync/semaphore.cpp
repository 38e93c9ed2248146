// SPDX-License-Identifier: MIT
// See semaphore.hpp.
#include "kernel/sync/semaphore.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/level.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/trace_points.hpp"

#include <limits>

namespace kernel {

namespace {

constinit std::uint16_t s_last_id = 0;

} // namespace

void Semaphore::forget_waiter_irq_off(Task& task) {
    m_waiters.remove(task);
    task.waiting_on = nullptr;
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
    if (semaphore.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    trace_points::semaphore_waited(self, semaphore);
    if (semaphore.m_count > 0) {
        --semaphore.m_count;
        return {};
    }
    block_task_irq_off(*self, {.kind = WaitKind::semaphore, .id = semaphore.m_id});
    self->waiting_on = &semaphore;
    semaphore.m_waiters.push_back(*self);
    schedule_irq_off();
    return {};
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
    Task* const waiter = semaphore.m_waiters.front();
    if (waiter == nullptr) {
        if (semaphore.m_count == std::numeric_limits<std::uint32_t>::max()) {
            return lib::Error::no_space;
        }
        ++semaphore.m_count;
        return {};
    }
    semaphore.forget_waiter_irq_off(*waiter);
    unblock_task_irq_off(*waiter);
    schedule_irq_off();
    return {};
}

} // namespace kernel
