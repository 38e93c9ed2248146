// SPDX-License-Identifier: MIT
// The ceilings of all mutexes that have one, and those of them that are locked, in the order of their ceilings: what
// the ceiling protocol tests a lock against and the stack policy the beginning of a job. One tree for each protocol;
// they do not see each other.
//
//   highest ceiling                      lowest          a preemption level is a length of time: the shorter, the
//   higher m3 (2 ms) --- m1 (5 ms) --- m7 (5 ms) --- m2 (none)  equals in the order in which they were locked
#pragma once

#include "kernel/sync/mutex.hpp"

namespace kernel {

struct HigherCeiling {
    bool operator()(const Mutex& a, const Mutex& b) const { return a.ceiling() < b.ceiling(); }
};

// All functions irq-off.
class Ceilings {
  public:
    constexpr Ceilings() = default;
    Ceilings(const Ceilings&) = delete;
    Ceilings& operator=(const Ceilings&) = delete;

    // A mutex with a ceiling exists from now on.
    void add(Mutex& mutex);

    // O(tasks).
    void declare_user(Mutex& mutex, const Task& task);

    // The task ends: it is a user of nothing. O(mutexes).
    void forget_user(const Task& task);

    // The task's preemption level may have changed. O(mutexes).
    void level_changed(const Task& task);

    // The mutex was taken; it is about to be freed. O(log n).
    void hold(Mutex& mutex);
    void let_go(Mutex& mutex);

    // The mutex with the highest ceiling among those of the ceiling protocol that others have locked, or null. O(log n)
    // for each that `task` itself has locked and that stands before it.
    [[nodiscard]] Mutex* highest_of_others(const Task& task) const;

    // Of the stack policy, whose ceiling is the system's; null if none is locked. O(1).
    [[nodiscard]] Mutex* top_of_stack() const { return m_stack.first(); }

  private:
    using Held = lib::IntrusiveTree<Mutex, HeldTag, HigherCeiling>;

    [[nodiscard]] Held& held(const Mutex& mutex) {
        return mutex.protocol() == MutexProtocol::stack ? m_stack : m_ceiling;
    }

    void recompute(Mutex& mutex);

    // Stopped jobs lend their places to somebody else, or to nobody, after this.
    void unpark_stopped() const;

    lib::IntrusiveList<Mutex, CeilingTag> m_all;
    Held m_ceiling;
    Held m_stack;
};

[[nodiscard]] Ceilings& ceilings();

[[nodiscard]] std::uint64_t preemption_level_irq_off(const Task& task);

// Of the running task: its own, or that of the place it runs in, if that is higher.
[[nodiscard]] std::uint64_t active_preemption_level_irq_off(const Task& task);

} // namespace kernel
