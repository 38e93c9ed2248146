// SPDX-License-Identifier: MIT
// A semaphore counts. The most urgent waiter is served first (waiting.hpp), and a post hands its unit to that waiter
// directly, so that no later task can take it. There is no inheritance, because a semaphore has no owner.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/sync/waiting.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

// A semaphore must be initialised by sem_init() before it is used.
class Semaphore {
  public:
    constexpr Semaphore() = default;
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;

    // Returns the number that trace records carry: from 1 on in the order of initialisation, 0 before sem_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

  private:
    friend lib::Result<void> sem_init(Semaphore& semaphore, std::string_view name, std::uint32_t count);
    friend lib::Result<void> sem_wait(Semaphore& semaphore);
    friend lib::Result<void> sem_timedwait(Semaphore& semaphore, lib::Nanoseconds timeout);
    friend lib::Result<void> sem_trywait(Semaphore& semaphore);
    friend lib::Result<void> sem_post(Semaphore& semaphore);

    [[nodiscard]] lib::Result<void> wait(lib::Ticks until, IrqOff);
    [[nodiscard]] lib::Result<void> wait_for_unit(OpenSection section);
    [[nodiscard]] lib::Result<void> post(OpenSection section);

    std::uint16_t m_id = 0;
    std::uint32_t m_count = 0;
    WaitQueue m_waiters;
};

// Initialises a semaphore. The name appears in the trace.
// count: the units at first, 0 to 2^32-1.
// exists: the semaphore was initialised before.
// no_space: 65,535 semaphores exist.
// Context: any.
lib::Result<void> sem_init(Semaphore& semaphore, std::string_view name, std::uint32_t count);

// Takes a unit, and waits for one if there is none.
// invalid_argument: the semaphore is not initialised.
// Context: task.
lib::Result<void> sem_wait(Semaphore& semaphore);

// Takes a unit like sem_wait(), but waits no longer than `timeout`. With 0 it is sem_trywait().
// invalid_argument: the semaphore is not initialised.
// timeout: no unit came in time.
// busy: the timeout is 0 and there is no unit.
// Context: task.
lib::Result<void> sem_timedwait(Semaphore& semaphore, lib::Nanoseconds timeout);

// Takes a unit if there is one.
// invalid_argument: the semaphore is not initialised.
// busy: there is no unit.
// Context: any.
lib::Result<void> sem_trywait(Semaphore& semaphore);

// Gives a unit.
// invalid_argument: the semaphore is not initialised.
// no_space: the semaphore has 2^32-1 units.
// Context: any. It is a scheduling point in task context.
lib::Result<void> sem_post(Semaphore& semaphore);

} // namespace kernel
