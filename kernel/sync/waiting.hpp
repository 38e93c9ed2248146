// SPDX-License-Identifier: MIT
// How waiting ends other than by what was waited for: time is up, the job is aborted, the task ends. One of each task's
// timers is the limit of its wait; a task waits for one thing at a time.
//
// At its limit a wait is over at that moment, whenever the task runs then: it lends its place no longer, and what it
// waited for does not come to it any more, even a mutex that has come free and that it only had no time to take.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/time/clock.hpp"

namespace kernel {

inline constexpr lib::Ticks kForever{~std::uint64_t{0}};

// Until when a wait lasts that begins now.
[[nodiscard]] inline lib::Ticks wait_limit(lib::Nanoseconds timeout) {
    return after(timeout);
}

// The task's wait ends at `until` at the latest; task.timed_out is false until then.
void start_timeout(Task& task, lib::Ticks until, IrqOff);

// The task got what it waited for.
void stop_timeout(Task& task, IrqOff);

// The task waits for nothing any more: out of wait queues, its position lent to no task, no limit, no delay. It does
// not become ready by this.
void leave_waits(Task& task, IrqOff);

// Every mutex that the task owns is freed and marked abandoned. The caller schedules.
void release_all_mutexes(Task& task, IrqOff);

} // namespace kernel
