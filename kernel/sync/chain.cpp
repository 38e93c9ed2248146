// SPDX-License-Identifier: MIT
// See chain.hpp.
#include "kernel/sync/chain.hpp"

#include "kernel/ready_queue.hpp"
#include "kernel/sync/ceilings.hpp"

namespace kernel {

namespace {

// The mutex whose ceiling keeps the task's job from beginning, or null. The idle task has no place to lend.
const Mutex* stopped_by(const Task& task) {
    if (task.job_begun || task.ready_in == nullptr || !task.owned.empty()) {
        return nullptr;
    }
    const Mutex* const top = ceilings().top_of_stack();
    return top != nullptr && preemption_level_irq_off(task) >= top->ceiling() ? top : nullptr;
}

// Whom it lends its place to, or null.
Task* lends_to(const Task& task) {
    const Mutex* const mutex = task.blocked_on != nullptr ? task.blocked_on : stopped_by(task);
    return mutex != nullptr && mutex->takes_places() ? mutex->owner() : nullptr;
}

} // namespace

Task& chain_end(Task& task) {
    Task* end = &task;
    std::size_t steps = 0;
    while (Task* const next = lends_to(*end)) {
        ASSERT(steps < kTasksMax);
        ++steps;
        end = next;
    }
    return *end;
}

} // namespace kernel
