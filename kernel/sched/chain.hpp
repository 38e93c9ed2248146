// SPDX-License-Identifier: MIT
// Chains of shadows determine on whose behalf a task's position in its ready queue is used. A task that must wait for a
// mutex keeps its position and lends it to the mutex's owner, who may wait for another mutex in turn. A job that the
// stack policy does not let begin yet lends its position to the owner of the mutex with the highest ceiling.
//
//   H --(waits for m1)--> M --(waits for m2)--> L        chain_end(H) = chain_end(M) = chain_end(L) = L
//   N --(must not begin, for m2 is locked)--> L          chain_end(N) = L
//
// A task that waits for a mutex without a protocol lends nothing, so a chain ends with it.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/resource.hpp"
#include "kernel/state/task_object.hpp"

namespace kernel {

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
