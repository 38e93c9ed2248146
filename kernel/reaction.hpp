// SPDX-License-Identifier: MIT
// What the kernel does when a task breaks its promise or the processor objects to it, chosen per task and per kind.
// Every exception is counted and recorded first, whatever the reaction.
#pragma once

#include <cstdint>

namespace kernel {

// The numbers appear in the trace (task_exception).
enum class TaskException : std::uint8_t {
    deadline_miss = 1, // XDEADLINE_MISS: a job is not complete at its deadline
    wcet = 2,          // XWCET_VIOLATION: a job has used more than it declared
    activation = 3,    // XACTIVATION: a sporadic task was activated too early
    fault = 4,         // the processor: page fault, protection fault, divide error, ...
};

enum class Reaction : std::uint8_t {
    count = 0,   // nothing but count and record
    abort = 1,   // the job in progress ends where it is; the next one starts at the task's entry
    kill = 2,    // the task ends
    handler = 3, // the task's exception handler is called
    panic = 4,   // the system ends
};

struct Reactions {
    Reaction deadline_miss = Reaction::count;
    Reaction wcet = Reaction::count;
    Reaction activation = Reaction::count;
    Reaction fault = Reaction::panic; // `panic`, `abort` or `kill`

    [[nodiscard]] constexpr Reaction to(TaskException exception) const {
        switch (exception) {
        case TaskException::deadline_miss:
            return deadline_miss;
        case TaskException::wcet:
            return wcet;
        case TaskException::activation:
            return activation;
        case TaskException::fault:
            return fault;
        }
        return Reaction::panic;
    }
};

} // namespace kernel
