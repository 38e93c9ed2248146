// SPDX-License-Identifier: MIT
// A counting semaphore. The most urgent waiter is served first (wait_queue.hpp), and a post hands its unit to that
// waiter directly: no later task can take it. No inheritance: a semaphore has no owner.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/sync/wait_queue.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

class Semaphore {
  public:
    constexpr Semaphore() = default;
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;

    // 1.. in the order of initialisation; what trace records carry. 0 before sem_init().
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

// `name` appears in the trace. exists: initialised before. no_space: 65535 semaphores exist. Context: any.
lib::Result<void> sem_init(Semaphore& semaphore, std::string_view name, std::uint32_t count);

// Takes a unit, waiting for one if need be. invalid_argument: not initialised. Context: task.
lib::Result<void> sem_wait(Semaphore& semaphore);

// As sem_wait, but waits no longer than `timeout`. 0: as sem_trywait. timeout: no unit came in time. Context: task.
lib::Result<void> sem_timedwait(Semaphore& semaphore, lib::Nanoseconds timeout);

// Takes a unit if there is one, else busy. invalid_argument: not initialised. Context: any.
lib::Result<void> sem_trywait(Semaphore& semaphore);

// Gives a unit. invalid_argument: not initialised. no_space: the count is 2^32-1. Context: any, also a timer handler.
lib::Result<void> sem_post(Semaphore& semaphore);

} // namespace kernel
