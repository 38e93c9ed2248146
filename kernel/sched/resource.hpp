// SPDX-License-Identifier: MIT
// What the scheduler knows of a mutex: the task that owns it, whether the tasks that it blocks lend their positions to
// the owner, and its ceiling. A mutex (kernel/sync/mutex.hpp) is a resource, and every resource is a mutex; protocols,
// waiters and hand-over are the mutex's business.
#pragma once

#include "kernel/state/task_object.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/intrusive_tree.hpp"

#include <cstdint>

namespace kernel {

// Below every preemption level that there is.
inline constexpr std::uint64_t kPreemptionLevelNone = ~std::uint64_t{0};

struct HeldTag {};

class Resource : public lib::ListLink<OwnedTag>, public lib::TreeLink<HeldTag> {
  public:
    Resource(const Resource&) = delete;
    Resource& operator=(const Resource&) = delete;

    // Null when free. irq-off, or a hint.
    [[nodiscard]] Task* owner() const { return m_owner; }

    // Whether the tasks that it blocks lend their positions to the owner.
    [[nodiscard]] bool takes_places() const { return m_takes_places; }

    // The shortest relative deadline or period among its users, in ns; kPreemptionLevelNone: no user has one.
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

// Resources that are owned, the highest ceiling first.
using HeldResources = lib::IntrusiveTree<Resource, HeldTag, HigherCeiling>;

namespace detail {

inline constinit HeldResources stack_resources;

} // namespace detail

// Those of the stack policy: the first one's ceiling is the system's. irq-off.
[[nodiscard]] inline HeldResources& stack_resources() {
    return detail::stack_resources;
}

} // namespace kernel
