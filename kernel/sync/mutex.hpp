// SPDX-License-Identifier: MIT
// A mutex with priority inheritance by shadows: a task that finds the mutex taken keeps its place in its ready queue
// and lends it to the owner, so the owner runs whenever the blocked task would have run. Inheritance is transitive
// because shadows chain. Ownership passes by retry: unlocking frees the mutex and all its waiters; whoever runs first
// takes it, and the others lend their places to the new owner.
//
//   before unlock            after unlock              H runs first and locks
//   H --.                    H -> H                    H -> H   (owner)
//   M --+--> L (owner)       M -> M                    M -> H
//        shadow              L -> L
#pragma once

#include "kernel/task_object.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

class Mutex : public lib::ListLink<OwnedTag> {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    // 1.. in the order of initialisation; what trace records carry. 0 before mutex_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

    // Null when free. irq-off, or a hint.
    [[nodiscard]] Task* owner() const { return m_owner; }

    // How many locks found the mutex taken and had to wait.
    [[nodiscard]] std::uint64_t contentions() const { return m_contentions; }

    // Frees the mutex on behalf of its owner. irq-off; the caller schedules.
    void release_irq_off();

    // A waiter ends. irq-off.
    void forget_waiter_irq_off(Task& task);

  private:
    friend lib::Result<void> mutex_init(Mutex& mutex, std::string_view name);
    friend lib::Result<void> mutex_lock(Mutex& mutex);
    friend lib::Result<void> mutex_trylock(Mutex& mutex);
    friend lib::Result<void> mutex_unlock(Mutex& mutex);

    void take_irq_off(Task& task);
    void block_irq_off(Task& task);

    std::uint16_t m_id = 0;
    Task* m_owner = nullptr;
    std::uint64_t m_contentions = 0;
    std::uint32_t m_waiters = 0; // tasks whose blocked_on is this mutex
};

// `name` appears in the trace. exists: initialised before. no_space: 65535 mutexes exist. Context: any.
lib::Result<void> mutex_init(Mutex& mutex, std::string_view name);

// Returns once the calling task owns the mutex. invalid_argument: not initialised. refused: the caller owns it already,
// or its owner (directly or along a chain) waits for the caller: a deadlock. Context: task.
lib::Result<void> mutex_lock(Mutex& mutex);

// As mutex_lock, but busy instead of waiting. Context: task.
lib::Result<void> mutex_trylock(Mutex& mutex);

// invalid_argument: not initialised. refused: the caller does not own it. Context: task.
lib::Result<void> mutex_unlock(Mutex& mutex);

} // namespace kernel
