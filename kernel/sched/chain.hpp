// SPDX-License-Identifier: MIT
// Declares what the scheduler knows of mutexes, and the chains of shadows that they form.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/intrusive_tree.hpp"

#include <cstdint>

namespace kernel {

// A resource is what the scheduler knows of a mutex: the task that owns it, whether the tasks that it blocks lend their
// positions to the owner, and its ceiling. A mutex (kernel/sync/mutex.hpp) is a resource, and every resource is a
// mutex; the mutex itself is responsible for protocols, waiters and hand-over.

// This is below every preemption level that there is.
inline constexpr std::uint64_t kPreemptionLevelNone = ~std::uint64_t{0};

struct HeldTag {};

class Resource : public lib::ListLink<OwnedTag>, public lib::TreeLink<HeldTag> {
  public:
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;

    // Returns null if the resource is free. With interrupts on the answer is only a hint.
    [[nodiscard]] Task* owner() const { return m_owner; }

    // Returns whether the tasks that it blocks lend their positions to the owner.
    [[nodiscard]] bool takes_places() const { return m_takes_places; }

    // Returns the shortest relative deadline or period among its users, in nanoseconds, or kPreemptionLevelNone if no
    // user has one.
    [[nodiscard]] std::uint64_t ceiling() const { return m_ceiling; }

    // Must be called when positions are parked at a task that this free resource blocks: their chains will continue
    // from there as soon as the resource has an owner. Context: irq-off.
    void stall(Task& end) {
        if (!is_stalled(end)) {
            m_stalled.push_back(end);
        }
    }

  protected:
    constexpr Resource() = default;
    ~Resource() = default;

    [[nodiscard]] static bool is_stalled(const lib::ListLink<StalledTag>& task) { return task.linked(); }

    Task* m_owner = nullptr;
    lib::IntrusiveList<Task, StalledTag> m_stalled; // suspended tasks that this resource blocks
    std::uint64_t m_ceiling = kPreemptionLevelNone;
    bool m_takes_places = true;
};

struct HigherCeiling {
    bool operator()(const Resource& a, const Resource& b) const { return a.ceiling() < b.ceiling(); }
};

// Holds the resources that are owned, the highest ceiling first.
using HeldResources = lib::IntrusiveTree<Resource, HeldTag, HigherCeiling>;

namespace detail {

inline constinit HeldResources stack_resources;

} // namespace detail

// Returns the resources of the stack policy: the first one's ceiling is the system's. Context: irq-off.
[[nodiscard]] inline HeldResources& stack_resources() {
    return detail::stack_resources;
}

// Chains of shadows determine on whose behalf a task's position in its ready queue is used. A task that must wait for a
// mutex keeps its position and lends it to the mutex's owner, who may wait for another mutex in turn. A job that the
// stack policy does not let begin yet lends its position to the owner of the mutex with the highest ceiling.
//
//   H --(waits for m1)--> M --(waits for m2)--> L        chain_end(H) = chain_end(M) = chain_end(L) = L
//   N --(must not begin, for m2 is locked)--> L          chain_end(N) = L
//
// A task that waits for a mutex without a protocol lends nothing, so a chain ends with it.

namespace detail {

[[nodiscard]] Task& follow_chain(Task& task, IrqOff);

} // namespace detail

// Returns whether the task is the end of its chain: it runs itself when it is chosen, if it can run.
[[nodiscard]] inline bool is_chain_end(const Task& task, IrqOff) {
    return task.blocked_on == nullptr && stack_resources().empty();
}

// Returns the task that really runs when this one is chosen, in O(length of the chain). Chains are acyclic, because
// mutex_lock() refuses the lock that would close a cycle, and because a job that has not begun owns nothing that others
// could wait for: a job that kept a mutex from an earlier job is not stopped.
[[nodiscard]] inline Task& chain_end(Task& task, IrqOff off) {
    return is_chain_end(task, off) ? task : detail::follow_chain(task, off);
}

} // namespace kernel
