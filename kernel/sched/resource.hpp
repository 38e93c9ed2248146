// SPDX-License-Identifier: MIT
// A resource is what the scheduler knows of a mutex: the task that owns it, whether the tasks that it blocks lend their
// positions to the owner, and its ceiling. A mutex (kernel/sync/mutex.hpp) is a resource, and every resource is a
// mutex; the mutex itself is responsible for protocols, waiters and hand-over.
#pragma once

#include "kernel/state/task_object.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/intrusive_tree.hpp"

#include <cstdint>

namespace kernel {

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

  protected:
    constexpr Resource() = default;
    ~Resource() = default;

    Task* m_owner = nullptr;
    std::uint64_t m_ceiling = kPreemptionLevelNone;
    bool m_takes_places = true;
};

struct HigherCeiling {
    bool operator()(const Resource& a, const Resource& b) const { return a.ceiling() < b.ceiling(); }
};

// The resources that are owned, the highest ceiling first.
using HeldResources = lib::IntrusiveTree<Resource, HeldTag, HigherCeiling>;

namespace detail {

inline constinit HeldResources stack_resources;

} // namespace detail

// Returns the resources of the stack policy: the first one's ceiling is the system's. Context: irq-off.
[[nodiscard]] inline HeldResources& stack_resources() {
    return detail::stack_resources;
}

} // namespace kernel
