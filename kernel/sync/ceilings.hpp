// SPDX-License-Identifier: MIT
// Keeps the ceilings of all mutexes that have one, and the mutexes among them that are locked, in the order of their
// ceilings. The ceiling protocol tests a lock against these, and the stack policy the beginning of a job. Each protocol
// has a tree of its own; they do not see each other.
//
//   highest ceiling                      lowest          a preemption level is a length of time: the shorter, the
//   higher m3 (2 ms) --- m1 (5 ms) --- m7 (5 ms) --- m2 (none)  equals in the order in which they were locked
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sync/mutex.hpp"

namespace kernel {

// All functions need interrupts off.
class Ceilings {
  public:
    constexpr Ceilings() = default;
    Ceilings(const Ceilings&) = delete;
    Ceilings& operator=(const Ceilings&) = delete;

    void add(Mutex& mutex, IrqOff);

    // Declares the task as a user of the mutex, in O(log n).
    void declare_user(Mutex& mutex, Task& task, IrqOff);

    // Removes the task, which ends, from the users of all mutexes. It takes O(mutexes with ceilings) if the task was a
    // user of any, and O(users) for each whose ceiling it determined.
    void forget_user(const Task& task, IrqOff);

    // Must be called when the task's preemption level may have changed. It takes O(mutexes with ceilings), and O(users)
    // for each that the task may lock.
    void level_changed(const Task& task, IrqOff);

    // Must be called when the mutex was taken, or is about to be freed. O(log n).
    void hold(Mutex& mutex, IrqOff);
    void let_go(Mutex& mutex, IrqOff);

    // Returns the mutex with the highest ceiling among those of the ceiling protocol that others have locked, or null.
    // It takes O(log n) for each that `task` itself has locked and that comes before it.
    [[nodiscard]] Mutex* highest_of_others(const Task& task, IrqOff) const;

  private:
    [[nodiscard]] HeldResources& held(const Mutex& mutex) {
        return mutex.protocol() == MutexProtocol::stack ? stack_resources() : m_ceiling;
    }

    void recompute(Mutex& mutex, IrqOff);
    void set_ceiling(Mutex& mutex, std::uint64_t ceiling, IrqOff);

    // After this, stopped jobs lend their positions to another owner, or to none.
    void unpark_stopped(IrqOff) const;

    lib::IntrusiveList<Mutex, CeilingTag> m_all;
    HeldResources m_ceiling;
};

[[nodiscard]] Ceilings& ceilings();

[[nodiscard]] std::uint64_t preemption_level(const Task& task, IrqOff);

// Returns the preemption level of the running task: its own, or that of the position it runs in, if that is higher.
[[nodiscard]] std::uint64_t active_preemption_level(const Task& task, IrqOff);

} // namespace kernel
