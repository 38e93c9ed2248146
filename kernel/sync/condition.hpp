// SPDX-License-Identifier: MIT
// A condition variable: tasks wait until what a mutex protects has become what they need. Waiting frees the mutex and
// leaves the ready queue in one step, so no signal is lost between; whoever is woken locks the mutex again before the
// call returns. The most urgent waiter is woken first (wait_queue.hpp). As others may lock the mutex in between, a
// waiter looks again:
//
//   must(mutex_lock(mutex));
//   while (!ready) {
//       must(cond_wait(condition, mutex));
//   }
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/wait_queue.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

class Condition {
  public:
    constexpr Condition() = default;
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;

    // 1.. in the order of initialisation; what trace records carry. 0 before cond_init().
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

// `name` appears in the trace. exists: initialised before. no_space: 65535 conditions exist. Context: any.
lib::Result<void> cond_init(Condition& condition, std::string_view name);

// Frees the mutex, waits for a signal, locks the mutex again. invalid_argument: not initialised. refused: the caller
// does not own the mutex, and nothing is changed; or it was woken and locking again would be a deadlock (mutex_lock):
// it does not own the mutex then, which happens only to a caller that owns another one meanwhile. Context: task.
lib::Result<void> cond_wait(Condition& condition, Mutex& mutex);

// As cond_wait, but waits no longer than `timeout` for the signal; locking again takes what it takes. timeout: no
// signal came in time; the caller owns the mutex again. 0: timeout at once, without freeing the mutex. Context: task.
lib::Result<void> cond_timedwait(Condition& condition, Mutex& mutex, lib::Nanoseconds timeout);

// Wakes the most urgent waiter, if there is one. invalid_argument: not initialised. Context: any.
lib::Result<void> cond_signal(Condition& condition);

// Wakes all waiters, the most urgent first. O(n log n). invalid_argument: not initialised. Context: any.
lib::Result<void> cond_broadcast(Condition& condition);

} // namespace kernel
