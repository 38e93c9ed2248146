// SPDX-License-Identifier: MIT
// Mutexes. How one bounds the time for which a less urgent owner holds up a more urgent task is its protocol:
//
//   inheritance   a task that finds the mutex taken keeps its place in its ready queue and lends it to the owner, so
//                 that one runs whenever the blocked task would have run. Transitive, for shadows chain.
//   ceiling       the original priority ceiling protocol: a lock is granted only to a task whose preemption level, or
//                 that of the place it runs in, is higher than the ceilings of all ceiling mutexes that *others* have
//                 locked; else it lends its place to the owner of the one with the highest ceiling. No deadlock; a job
//                 is blocked once at most.
//   stack         the stack resource policy: a job does not begin before its preemption level is higher than every
//                 ceiling of a stack mutex that is locked; until then its place is lent to the owner of the highest.
//                 Once begun it never finds one taken, unless jobs delay themselves or users are declared under way.
//   none          nothing: a waiter leaves its ready queue, and the unlock hands the mutex to the most urgent waiter.
//                 Inversion is unbounded; for comparison.
//
// The ceiling of a mutex is the highest preemption level (Level::preemption_level) of the tasks that were declared its
// users; it follows when users come, end, or change their deadline. A waiter's test against ceilings is repeated when
// the mutex that blocks it is freed.
//
// Ownership passes by retry (none: by hand-over): unlocking frees the mutex and all its waiters; whoever runs first
// takes it, and the others lend their places to the new owner.
//
//   before unlock            after unlock              H runs first and locks
//   H --.                    H -> H                    H -> H   (owner)
//   M --+--> L (owner)       M -> M                    M -> H
//        shadow              L -> L
//
// A task that ends, is killed or has its job aborted frees what it owns. What the mutex protects may be half changed
// then, so the mutex is *abandoned*: locks succeed as ever, and mutex_abandoned() is true until an owner that has put
// things right says so by mutex_consistent().
//
// Sources: Sha, Rajkumar, Lehoczky, "Priority inheritance protocols" (1990); Baker, "Stack-based scheduling of realtime
// processes" (1991).
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/resource.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/sync/pid_set.hpp"
#include "kernel/sync/wait_queue.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/result.hpp"
#include "lib/wire_numbers.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

using lib::MutexProtocol;

struct MutexOptions {
    MutexProtocol protocol = MutexProtocol::inheritance;
    std::string_view name; // appears in the trace
};

struct CeilingTag {};

class Mutex : public Resource, public lib::ListLink<CeilingTag> {
  public:
    constexpr Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    // 1.. in the order of initialisation; what trace records carry. 0 before mutex_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

    [[nodiscard]] MutexProtocol protocol() const { return m_protocol; }

    // Whether tasks must be declared as users.
    [[nodiscard]] bool has_ceiling() const {
        return m_protocol == MutexProtocol::ceiling || m_protocol == MutexProtocol::stack;
    }

    // How many locks found the mutex taken, or forbidden by another's ceiling, and had to wait.
    [[nodiscard]] std::uint64_t contentions() const { return m_contentions; }

    // The owner's end: frees the mutex and marks it. irq-off; the caller schedules.
    void abandon(IrqOff);

    // A task that it blocks waits no longer.
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

    // What the four ways to lock have in common.
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
    PidSet m_users;
    WaitQueue m_queue; // protocol none only
};

// The mutex that a resource is.
[[nodiscard]] inline Mutex& mutex_of(Resource& resource) {
    return static_cast<Mutex&>(resource);
}

// exists: initialised before. no_space: 65535 mutexes exist. Context: any.
lib::Result<void> mutex_init(Mutex& mutex, const MutexOptions& options);

// With inheritance.
inline lib::Result<void> mutex_init(Mutex& mutex, std::string_view name) {
    return mutex_init(mutex, MutexOptions{.protocol = MutexProtocol::inheritance, .name = name});
}

// The task may lock the mutex from now on, and counts for its ceiling until it ends; again is the same as once. Best
// before anybody locks it: TaskOptions::mutexes does it at creation. invalid_argument: not initialised, or a protocol
// without ceilings. not_found: no such task. Context: any. A scheduling point in task context.
lib::Result<void> mutex_declare_user(Mutex& mutex, Pid pid);

// Returns once the calling task owns the mutex. invalid_argument: not initialised, or a mutex with a ceiling of which
// the caller was not declared a user (mutex_declare_user). refused: the caller owns it already, or the task to wait for
// waits (directly or along a chain) for the caller: a deadlock, recorded. Nothing is changed then. Context: task.
lib::Result<void> mutex_lock(Mutex& mutex);

// As mutex_lock, but waits no longer than `timeout`; an unlock at the limit is in time. 0: as mutex_trylock.
// timeout: the limit was reached. Context: task.
lib::Result<void> mutex_timedlock(Mutex& mutex, lib::Nanoseconds timeout);

// As mutex_lock, but busy instead of waiting. Context: task.
lib::Result<void> mutex_trylock(Mutex& mutex);

// In any order. invalid_argument: not initialised. refused: the caller does not own it. Context: task.
lib::Result<void> mutex_unlock(Mutex& mutex);

// Whether an owner ended without unlocking it since it was last declared consistent. Context: any; certain for the
// owner.
[[nodiscard]] bool mutex_abandoned(const Mutex& mutex);

// What the mutex protects is in order again. invalid_argument: not initialised. refused: the caller does not own it.
// Context: task.
lib::Result<void> mutex_consistent(Mutex& mutex);

} // namespace kernel
