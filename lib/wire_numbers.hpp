// SPDX-License-Identifier: MIT
// Declares the numbers in records that have words: what a task waits for, which exception occurred, which protocol a
// mutex has. Each is declared once, with its word: the kernel's enumerations are these, and printers, converters, the
// oracle and the table in docs/trace-format.md use them. A number keeps its meaning permanently; a new one goes to the
// end. An enumerator without a word does not compile (-Wswitch-enum). Host-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lib {

// States what a task waits for (task_block, task_unblock, wait_timeout, high half of par2).
enum class WaitKind : std::uint8_t {
    semaphore = 1,
    delay = 2,
    condition = 3,
    receive = 4,
    send = 5,
    suspended = 6,
    signal = 7,
    mutex = 8,   // without a protocol: with one, a task waits in its ready queue
    channel = 9, // of a kernel in which a task sleeps on an address: 16 bits of it, or a number
};

[[nodiscard]] constexpr std::string_view word(WaitKind kind) {
    switch (kind) {
    case WaitKind::semaphore:
        return "semaphore";
    case WaitKind::delay:
        return "delay";
    case WaitKind::condition:
        return "condition";
    case WaitKind::receive:
        return "receive";
    case WaitKind::send:
        return "send";
    case WaitKind::suspended:
        return "suspended";
    case WaitKind::signal:
        return "signal";
    case WaitKind::mutex:
        return "mutex";
    case WaitKind::channel:
        return "channel";
    }
    return {};
}

// States in which order a level of a kernel runs its tasks (level_name).
enum class LevelKind : std::uint8_t {
    other = 1,          // in an order that is none of these: it is not judged
    fifo = 2,           // until it waits; first come, first served
    round_robin = 3,    // a queue; who has used its slice goes to the end
    scan = 4,           // a table that is searched in a circle
    fixed_priority = 5, // the shortest relative deadline first
    edf = 6,            // the earliest absolute deadline first
    background = 7,     // after all others
};

[[nodiscard]] constexpr std::string_view word(LevelKind kind) {
    switch (kind) {
    case LevelKind::other:
        return "other";
    case LevelKind::fifo:
        return "fifo";
    case LevelKind::round_robin:
        return "round_robin";
    case LevelKind::scan:
        return "scan";
    case LevelKind::fixed_priority:
        return "fixed_priority";
    case LevelKind::edf:
        return "edf";
    case LevelKind::background:
        return "background";
    }
    return {};
}

// States what went wrong (task_exception and job_abort, high half of par2).
enum class TaskException : std::uint8_t {
    deadline_miss = 1, // XDEADLINE_MISS: a job is not complete at its deadline
    wcet = 2,          // XWCET_VIOLATION: a job has used more than it declared
    activation = 3,    // XACTIVATION: a sporadic task was activated too early
    fault = 4,         // the processor raised one: page fault, protection fault, divide error, ...
};

[[nodiscard]] constexpr std::string_view word(TaskException exception) {
    switch (exception) {
    case TaskException::deadline_miss:
        return "deadline_miss";
    case TaskException::wcet:
        return "wcet";
    case TaskException::activation:
        return "activation";
    case TaskException::fault:
        return "fault";
    }
    return {};
}

// States what the kernel does about an exception (task_exception and job_abort, low half of par2).
enum class Reaction : std::uint8_t {
    count = 0,   // nothing but count and record
    abort = 1,   // the job in progress ends where it is; the next one starts at the task's entry
    kill = 2,    // the task ends
    handler = 3, // the task's exception handler is called
    panic = 4,   // the system ends
};

[[nodiscard]] constexpr std::string_view word(Reaction reaction) {
    switch (reaction) {
    case Reaction::count:
        return "count";
    case Reaction::abort:
        return "abort";
    case Reaction::kill:
        return "kill";
    case Reaction::handler:
        return "handler";
    case Reaction::panic:
        return "panic";
    }
    return {};
}

// States how a mutex bounds priority inversion (set_mutex_protocol).
enum class MutexProtocol : std::uint8_t {
    none = 0,
    inheritance = 1,
    ceiling = 2,
    stack = 3,
};

[[nodiscard]] constexpr std::string_view word(MutexProtocol protocol) {
    switch (protocol) {
    case MutexProtocol::none:
        return "none";
    case MutexProtocol::inheritance:
        return "inheritance";
    case MutexProtocol::ceiling:
        return "ceiling";
    case MutexProtocol::stack:
        return "stack";
    }
    return {};
}

// States by which rules a server works (server_kind).
enum class ServerKind : std::uint8_t {
    cbs = 1,        // one task's own server
    grub = 2,       // one task's own server, which reclaims bandwidth that others leave unused
    polling = 3,    // a budget that finds no request is lost at once
    deferrable = 4, // a budget that finds no request is kept until the end of the period
};

[[nodiscard]] constexpr std::string_view word(ServerKind kind) {
    switch (kind) {
    case ServerKind::cbs:
        return "CBS";
    case ServerKind::grub:
        return "GRUB";
    case ServerKind::polling:
        return "polling";
    case ServerKind::deferrable:
        return "deferrable";
    }
    return {};
}

// States how the processor came to an instruction (instruction; in block, above the number of instructions).
enum class Flow : std::uint8_t {
    next = 0,    // the following instruction: no branch was taken
    jump = 1,    // a jump that was taken, conditional or not
    call = 2,    // into a function
    ret = 3,     // out of one
    resumed = 4, // not from the previous step: first step, another task, or code that was not stepped
};

[[nodiscard]] constexpr std::string_view word(Flow flow) {
    switch (flow) {
    case Flow::next:
        return "next";
    case Flow::jump:
        return "jump";
    case Flow::call:
        return "call";
    case Flow::ret:
        return "return";
    case Flow::resumed:
        return "resumed";
    }
    return {};
}

// States how much of a task in steps is recorded (instruction_trace_begin).
enum class Grain : std::uint8_t {
    instructions = 0, // a record for each
    blocks = 1,       // a record where the flow leaves the straight line
};

[[nodiscard]] constexpr std::string_view word(Grain grain) {
    switch (grain) {
    case Grain::instructions:
        return "instructions";
    case Grain::blocks:
        return "blocks";
    }
    return {};
}

// States what a step did to the compensated clock (compensation_count).
enum class StepOutcome : std::uint8_t {
    compensated = 0,
    rollover = 1,      // the clock is before its last setting: their difference means nothing
    untraced = 2,      // so much time passed that other code must have run: that time is genuine
    near_zero = 3,     // the timer's interrupt may be on its way: it could get lost, or come twice
    near_overflow = 4, // clock and target could be on both sides of the clock's end
    below_trigger = 5, // the step has not reached the trigger
    not_ahead = 6,     // the clock has not reached the target: it is never set forward
};

[[nodiscard]] constexpr std::string_view word(StepOutcome outcome) {
    switch (outcome) {
    case StepOutcome::compensated:
        return "compensated";
    case StepOutcome::rollover:
        return "rollover";
    case StepOutcome::untraced:
        return "untraced";
    case StepOutcome::near_zero:
        return "near_zero";
    case StepOutcome::near_overflow:
        return "near_overflow";
    case StepOutcome::below_trigger:
        return "below_trigger";
    case StepOutcome::not_ahead:
        return "not_ahead";
    }
    return {};
}

namespace detail {

template <typename Number>
consteval std::size_t words_end() {
    constexpr std::uint8_t kNumbersMax = 32;
    std::size_t end = 0;
    for (std::uint8_t i = 0; i < kNumbersMax; ++i) {
        end = word(static_cast<Number>(i)).empty() ? end : i + std::size_t{1};
    }
    return end;
}

} // namespace detail

// Lists the words by number; an empty word means that the number has none.
template <typename Number>
inline constexpr auto kWords = [] {
    std::array<std::string_view, detail::words_end<Number>()> words{};
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = word(static_cast<Number>(i));
    }
    return words;
}();

// Returns the value of a number in a record, which a kernel of another version may have written, or nothing if it has
// no word.
template <typename Number>
[[nodiscard]] constexpr std::optional<Number> number_from(std::uint32_t value) {
    const bool known = value < kWords<Number>.size() && !kWords<Number>[value].empty();
    return known ? std::optional(static_cast<Number>(value)) : std::nullopt;
}

} // namespace lib
