// SPDX-License-Identifier: MIT
// Waiting can end without what was waited for: time is up, the job is aborted, or the task ends. One of each task's
// timers is the limit of its wait, because a task waits for one thing at a time.
//
// A wait is over at its limit, whenever the task runs then: it lends its position no longer, and what it waited for
// does not come to it any more, even a mutex that has become free and that it only had no time to take.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/time/clock.hpp"

namespace kernel {

inline constexpr lib::Ticks kForever{~std::uint64_t{0}};

// Returns the limit of a wait that begins now.
[[nodiscard]] inline lib::Ticks wait_limit(lib::Nanoseconds timeout) {
    return after(timeout);
}

// The task's wait ends at `until` at the latest; task.timed_out is false until then.
void start_timeout(Task& task, lib::Ticks until, IrqOff);

// The task got what it waited for, so its limit is removed.
void stop_timeout(Task& task, IrqOff);

// The task waits for nothing any more: it is in no wait queue, lends its position to no task, and has no limit and no
// delay. It does not become ready by this.
void leave_waits(Task& task, IrqOff);

// Frees every mutex that the task owns and marks it as abandoned. The caller schedules.
void release_all_mutexes(Task& task, IrqOff);

} // namespace kernel
