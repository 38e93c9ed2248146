// SPDX-License-Identifier: MIT
// At a condition variable tasks wait until what a mutex protects has become what they need. Waiting frees the mutex and
// leaves the ready queue in one step, so that no signal is lost in between; a task that is woken locks the mutex again
// before the call returns. The most urgent waiter is woken first (waiting.hpp). Other tasks may lock the mutex in
// between, so a waiter tests its condition again:
//
//   must(mutex_lock(mutex));
//   while (!ready) {
//       must(cond_wait(condition, mutex));
//   }
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/waiting.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

// A condition must be initialised by cond_init() before it is used.
class Condition {
  public:
    constexpr Condition() = default;
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    // Returns the number that trace records carry: from 1 on in the order of initialisation, 0 before cond_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

  private:
    friend lib::Result<void> cond_init(Condition& condition, std::string_view name);
    friend lib::Result<void> cond_wait(Condition& condition, Mutex& mutex);
    friend lib::Result<void> cond_timedwait(Condition& condition, Mutex& mutex, lib::Nanoseconds timeout);
    friend lib::Result<void> cond_signal(Condition& condition);
    friend lib::Result<void> cond_broadcast(Condition& condition);

    [[nodiscard]] lib::Result<void> wait(Mutex& mutex, lib::Ticks until, IrqOff);

    std::uint16_t m_id = 0;
    WaitQueue m_waiters;
};

// Initialises a condition. The name appears in the trace.
// exists: the condition was initialised before.
// no_space: 65,535 conditions exist.
// Context: any.
lib::Result<void> cond_init(Condition& condition, std::string_view name);

// Frees the mutex, waits for a signal, and locks the mutex again.
// invalid_argument: the condition or the mutex is not initialised.
// refused: the caller does not own the mutex, and nothing is changed; or it was woken and locking again would be a
// deadlock. The caller does not own the mutex then; this happens only to a caller that owns another one meanwhile.
// Context: task.
lib::Result<void> cond_wait(Condition& condition, Mutex& mutex);

// Waits like cond_wait(), but no longer than `timeout` for the signal; locking again may take longer. With 0 it returns
// timeout at once and does not free the mutex.
// invalid_argument: the condition or the mutex is not initialised.
// refused: the caller does not own the mutex, or locking again would be a deadlock; see cond_wait().
// timeout: no signal came in time. The caller owns the mutex again.
// Context: task.
lib::Result<void> cond_timedwait(Condition& condition, Mutex& mutex, lib::Nanoseconds timeout);

// Wakes the most urgent waiter, if there is one.
// invalid_argument: the condition is not initialised.
// Context: any. It is a scheduling point in task context.
lib::Result<void> cond_signal(Condition& condition);

// Wakes all waiters, the most urgent first, in O(n log n).
// invalid_argument: the condition is not initialised.
// Context: any. It is a scheduling point in task context.
lib::Result<void> cond_broadcast(Condition& condition);

} // namespace kernel
