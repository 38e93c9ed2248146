// SPDX-License-Identifier: MIT
// What one event changes in the schedule. Schedule makes changes, all others read them.
#pragma once

#include <cstdint>
#include <string_view>

namespace host::schedule {

inline constexpr std::uint32_t kContexts = 0x1'0000;
inline constexpr std::uint32_t kUnknownContext = 0x1'0001; // of a task that no record has named yet

// Why a task does not run, or that it could run.
enum class TaskState : std::uint8_t {
    unknown, // no record says, or records are missing
    ready,   // it has a processor, or could have one
    job,     // its job is complete: it waits for the next release
    semaphore,
    delay,
    condition,
    receive,
    send,
    suspended,
    signal,
    mutex,
    ended,
};

[[nodiscard]] std::string_view state_name(TaskState state);

// It cannot run until something happens.
[[nodiscard]] constexpr bool is_waiting(TaskState state) {
    return state >= TaskState::job && state <= TaskState::mutex;
}

// It waits within a job, not for the next one.
[[nodiscard]] constexpr bool is_blocked(TaskState state) {
    return is_waiting(state) && state != TaskState::job;
}

struct Change {
    enum class Kind : std::uint8_t {
        switched,        // the processor goes from `other` to `context`; `state` is how `other` is left
        woken,           // `context` is ready; `before` is what it waited for
        waits,           // `context` waits for `state`, `object`; it may still have the processor
        created,         // `context` exists
        ended,           // `context` is gone
        forgotten,       // what is known of `context` ends here: records are missing
        job_began,       // of `context`
        job_ended,       // likewise; the event says how, unless `state` is unknown: records are missing
        interrupt_began, // `object` is the vector
        interrupt_ended, // likewise; only if its begin was seen
        inherits,        // `context` runs on behalf of `other`
        returns,         // `context` runs on its own behalf again
        gap,             // the processor ran `other`; from here on nothing is known of what it does
        lost,            // `object` records were dropped before this event
    };

    Kind kind = Kind::lost;
    TaskState state = TaskState::unknown;
    TaskState before = TaskState::unknown; // of `context`, in all changes that concern the state of a task
    std::uint32_t context = kUnknownContext;
    std::uint32_t other = kUnknownContext; // waits for a mutex: who holds it, as far as known
    std::uint32_t object = 0;

    // Not only the processor.
    [[nodiscard]] constexpr bool concerns_task() const { return context != kUnknownContext; }

    // A wait within a job ends with this change, or begins.
    [[nodiscard]] constexpr bool ends_wait() const {
        return is_blocked(before) && (kind >= Kind::woken && kind <= Kind::forgotten);
    }

    [[nodiscard]] constexpr bool begins_wait() const { return kind == Kind::waits && is_blocked(state); }
};

} // namespace host::schedule
