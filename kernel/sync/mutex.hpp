// SPDX-License-Identifier: MIT
// The protocol of a mutex bounds the time for which a less urgent owner holds up a more urgent task:
//
//   inheritance   A task that finds the mutex taken keeps its position in its ready queue and lends it to the owner,
//                 which so runs whenever the blocked task would have run. This is transitive, because shadows form
//                 chains.
//   ceiling       The original priority ceiling protocol: a lock is granted only to a task whose preemption level, or
//                 that of the position it runs in, is higher than the ceilings of all ceiling mutexes that *others*
//                 have locked; otherwise the task lends its position to the owner of the one with the highest ceiling.
//                 There is no deadlock, and a job is blocked once at most.
//   stack         The stack resource policy: a job does not begin before its preemption level is higher than every
//                 ceiling of a stack mutex that is locked; until then its position is lent to the owner of the highest.
//                 A job that has begun never finds such a mutex taken, unless jobs delay themselves or users are
//                 declared while jobs run.
//   none          A waiter leaves its ready queue, and the unlock hands the mutex to the most urgent waiter. Inversion
//                 is unbounded; this protocol is for comparison.
//
// The ceiling of a mutex is the highest preemption level (Level::preemption_level) of the tasks that were declared as
// its users; it changes when users come, end, or change their deadline. A waiter's test against ceilings is repeated
// when the mutex that blocks it is freed.
//
// Ownership passes by retry, and with the protocol `none` by hand-over: unlocking frees the mutex and all its waiters;
// the first one that runs takes it, and the others lend their positions to the new owner.
//
//   before unlock            after unlock              H runs first and locks
//   H --.                    H -> H                    H -> H   (owner)
//   M --+--> L (owner)       M -> M                    M -> H
//        shadow              L -> L
//
// A task that ends, is killed or has its job aborted frees the mutexes that it owns. What such a mutex protects may be
// half changed then, so the mutex is *abandoned*: locks succeed as before, and mutex_abandoned() is true until an owner
// that has repaired the data calls mutex_consistent().
//
// Sources: Sha, Rajkumar, Lehoczky, "Priority inheritance protocols" (1990); Baker, "Stack-based scheduling of realtime
// processes" (1991).
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/sched/chain.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/sync/waiting.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/result.hpp"
#include "lib/wire_numbers.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernel {

using lib::MutexProtocol;

struct MutexOptions {
    MutexProtocol protocol = MutexProtocol::inheritance;
    std::string_view name; // it appears in the trace
};

struct CeilingTag {};

namespace detail {

// A PidSet is a set of pids, one bit for each slot of the task pool. Its user serialises the calls.
class PidSet {
  public:
    // Precondition of all functions: the pid is within the pool.
    constexpr void insert(Pid pid) { m_words[pid.value / kBits] |= bit(pid); }

    constexpr void erase(Pid pid) { m_words[pid.value / kBits] &= ~bit(pid); }

    [[nodiscard]] constexpr bool contains(Pid pid) const { return (m_words[pid.value / kBits] & bit(pid)) != 0; }

    // Calls act(pid) for each pid, in ascending order. It reads one word for each 64 slots.
    template <typename Act>
    constexpr void for_each(Act act) const {
        for (std::size_t word = 0; word < m_words.size(); ++word) {
            for (std::uint64_t left = m_words[word]; left != 0; left &= left - 1) {
                act(Pid{static_cast<std::uint16_t>(word * kBits + static_cast<std::size_t>(std::countr_zero(left)))});
            }
        }
    }

  private:
    static constexpr std::size_t kBits = 64;

    static constexpr std::uint64_t bit(Pid pid) { return std::uint64_t{1} << (pid.value % kBits); }

    std::array<std::uint64_t, (kTasksMax + kBits - 1) / kBits> m_words{};
};

} // namespace detail

// A mutex must be initialised by mutex_init() before it is used.
class Mutex : public Resource, public lib::ListLink<CeilingTag> {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    // Returns the number that trace records carry: from 1 on in the order of initialisation, 0 before mutex_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

    // Returns the protocol that mutex_init() got.
    [[nodiscard]] MutexProtocol protocol() const { return m_protocol; }

    // Returns whether tasks must be declared as users of the mutex.
    [[nodiscard]] bool has_ceiling() const {
        return m_protocol == MutexProtocol::ceiling || m_protocol == MutexProtocol::stack;
    }

    // Returns how many locks had to wait, because the mutex was taken or the ceiling of another one forbade it.
    [[nodiscard]] std::uint64_t contentions() const { return m_contentions; }

    // Frees the mutex at its owner's end and marks it as abandoned. The caller schedules.
    void abandon(IrqOff);

    // Must be called when a task that this mutex blocks waits no longer.
    void forget_waiter(Task& task, IrqOff);

  private:
    friend class Ceilings;
    friend lib::Result<void> mutex_init(Mutex& mutex, const MutexOptions& options);
    friend lib::Result<void> mutex_declare_user(Mutex& mutex, Pid pid);
    friend lib::Result<void> mutex_lock(Mutex& mutex);
    friend lib::Result<void> mutex_timedlock(Mutex& mutex, lib::Nanoseconds timeout);
    friend lib::Result<void> mutex_trylock(Mutex& mutex);
    friend lib::Result<void> mutex_unlock(Mutex& mutex);
    friend bool mutex_abandoned(const Mutex& mutex);
    friend lib::Result<void> mutex_consistent(Mutex& mutex);
    friend class Condition;

    [[nodiscard]] bool admits(const Task& task) const;
    [[nodiscard]] Mutex* obstacle_to(const Task& task, IrqOff);
    [[nodiscard]] bool held_up_by(const Task& task) const;
    [[nodiscard]] lib::Result<void> refuse(Task& task, IrqOff);
    [[nodiscard]] lib::Result<void> lock(Task& task, lib::Ticks until, IrqOff);
    [[nodiscard]] lib::Result<void> lock(OpenSection section);
    [[nodiscard]] lib::Result<void> unlock(OpenSection section);
    void wait(Task& task, lib::Ticks until, IrqOff);
    void take(Task& task, IrqOff);
    void release(IrqOff);

    std::uint16_t m_id = 0;
    MutexProtocol m_protocol = MutexProtocol::inheritance;
    bool m_abandoned = false;
    std::uint32_t m_waiters = 0; // tasks whose blocked_on is this mutex
    std::uint64_t m_contentions = 0;
    detail::PidSet m_users;
    WaitQueue m_queue; // protocol none only
};

// --- for the kernel

// Returns the mutex that a resource is.
[[nodiscard]] inline Mutex& mutex_of(Resource& resource) {
    return static_cast<Mutex&>(resource);
}

// --- primitives

// Initialises a mutex.
// exists: the mutex was initialised before.
// no_space: 65,535 mutexes exist.
// Context: any.
lib::Result<void> mutex_init(Mutex& mutex, const MutexOptions& options);

// Initialises a mutex with the protocol `inheritance`.
// exists: the mutex was initialised before.
// no_space: 65,535 mutexes exist.
// Context: any.
inline lib::Result<void> mutex_init(Mutex& mutex, std::string_view name) {
    return mutex_init(mutex, MutexOptions{.protocol = MutexProtocol::inheritance, .name = name});
}

// Declares a task as a user of a mutex with a ceiling: the task may lock the mutex from now on, and counts for its
// ceiling until it ends. A second declaration changes nothing. Users should be declared before the first lock, as
// TaskOptions::mutexes does at creation.
// invalid_argument: the mutex is not initialised, or its protocol has no ceilings.
// not_found: no task has this pid.
// Context: any. It is a scheduling point in task context.
lib::Result<void> mutex_declare_user(Mutex& mutex, Pid pid);

// Locks the mutex, and returns when the calling task owns it. An error changes nothing.
// invalid_argument: the mutex is not initialised, or it has a ceiling and the caller is not a declared user.
// refused: the caller owns the mutex already, or it would wait for a task that waits (directly or along a chain) for
// the caller. This deadlock is recorded.
// Context: task.
lib::Result<void> mutex_lock(Mutex& mutex);

// Locks the mutex like mutex_lock(), but waits no longer than `timeout`; an unlock at the limit is in time. With 0 it
// is mutex_trylock().
// invalid_argument: the mutex is not initialised, or it has a ceiling and the caller is not a declared user.
// refused: the caller owns the mutex already, or waiting would be a deadlock.
// timeout: the limit was reached.
// busy: the timeout is 0 and the mutex cannot be had now.
// Context: task.
lib::Result<void> mutex_timedlock(Mutex& mutex, lib::Nanoseconds timeout);

// Locks the mutex if that is possible at once.
// invalid_argument: the mutex is not initialised, or it has a ceiling and the caller is not a declared user.
// refused: the caller owns the mutex already.
// busy: the mutex is taken, or the ceiling of another one forbids the lock.
// Context: task.
lib::Result<void> mutex_trylock(Mutex& mutex);

// Unlocks the mutex. Mutexes may be unlocked in any order.
// invalid_argument: the mutex is not initialised.
// refused: the caller does not own the mutex.
// Context: task. It is a scheduling point.
lib::Result<void> mutex_unlock(Mutex& mutex);

// Returns whether an owner has ended without unlocking the mutex since it was last declared consistent. The answer is
// certain only for the owner.
// Context: any.
[[nodiscard]] bool mutex_abandoned(const Mutex& mutex);

// Declares that what the mutex protects is in order again.
// invalid_argument: the mutex is not initialised.
// refused: the caller does not own the mutex.
// Context: task.
lib::Result<void> mutex_consistent(Mutex& mutex);

} // namespace kernel
