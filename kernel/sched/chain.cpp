// SPDX-License-Identifier: MIT
// Follows a chain of shadows to its end.
#include "kernel/sched/chain.hpp"

#include "kernel/sched/level.hpp"

namespace kernel {

namespace {

// Returns the mutex whose ceiling keeps the task's job from beginning, or null. The idle task has no position to lend.
const Resource* stopped_by(const Task& task, IrqOff off) {
    if (task.job_begun || task.ready_in == nullptr || !task.owned.empty()) {
        return nullptr;
    }
    const Resource* const top = stack_resources().first();
    return top != nullptr && task.level->preemption_level(task, off) >= top->ceiling() ? top : nullptr;
}

// Returns the task to which this one lends its position, or null.
Task* lends_to(const Task& task, IrqOff off) {
    const Resource* const resource = task.blocked_on != nullptr ? task.blocked_on : stopped_by(task, off);
    return resource != nullptr && resource->takes_places() ? resource->owner() : nullptr;
}

} // namespace

Task& detail::follow_chain(Task& task, IrqOff off) {
    Task* end = &task;
    std::size_t steps = 0;
    while (Task* const next = lends_to(*end, off)) {
        ASSERT(steps < kTasksMax);
        ++steps;
        end = next;
    }
    return *end;
}

} // namespace kernel
