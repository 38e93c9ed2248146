// SPDX-License-Identifier: MIT
// The words in which tasks are spoken of everywhere: their number, their states, their counts. No functions.
#pragma once

#include <compare>
#include <cstdint>

namespace kernel {

// Index into the task table: 0..kTasksMax-1. Reused after the task has ended; a context number is not, for long.
struct Pid {
    std::uint16_t value = 0;

    friend constexpr auto operator<=>(Pid, Pid) = default;
};

using TaskBody = void (*)(void* argument);

enum class TaskState : std::uint8_t {
    free,     // no such task
    sleeping, // created, or asleep after task_sleep(): waits for task_activate()
    ready,    // has work and is in its level's queue; also while it runs, and while a mutex holds it up
    idle,     // its job is complete: waits for the next release
    delayed,  // in task_delay()
    waiting,  // for a unit, a message, a signal of a condition, or a mutex without a protocol
};

// Counts since creation.
struct JobCounts {
    std::uint64_t released = 0;
    std::uint64_t completed = 0;
    std::uint64_t deadline_misses = 0;
    std::uint64_t wcet_violations = 0;
    std::uint64_t activation_violations = 0;
    std::uint64_t faults = 0;
    std::uint64_t aborted = 0; // among the completed
    std::uint64_t skipped = 0; // activations that Overlap::skip dropped
};

} // namespace kernel
