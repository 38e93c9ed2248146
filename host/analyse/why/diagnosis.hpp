// SPDX-License-Identifier: MIT
// What made a job late: each cause with the time that the job would have ended earlier without it. The first causes of
// the list are those whose absence would have sufficed; one that suffices alone comes before several, a fault (a
// promise that was broken, a protocol that is missing) before load that was to be expected.
#pragma once

#include "host/analyse/why/job_case.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace host::analyse::why {

enum class Cause : std::uint8_t {
    missing_inheritance, // a task that holds nothing ran while the holder could not
    lock_across_wait,    // the holder of a mutex waited for something else
    own_overrun,         // it executed more than it declares
    others_overrun,      // tasks that precede it did
    server_budget,       // its server had no budget, or postponed its deadline
    priority_order,      // tasks with later deadlines preceded it
    interrupts_off,      // a task kept interrupts off when it was to be released, or to run
    interrupt_load,      // of one vector
    critical_section,    // of the task that held the mutex
    late_event,          // what it waited for within its job came late
    tracing,             // the records that were written meanwhile
    load,                // of tasks that precede it, as declared
    execution,           // its own, as declared
    kernel,              // switches and decisions
    unknown,             // no record says what ran
};

inline constexpr std::array<std::string_view, 15> kCauseNames = {
    "missing_inheritance", "lock_across_wait", "own_overrun",      "others_overrun", "server_budget", "priority_order",
    "interrupts_off",      "interrupt_load",   "critical_section", "late_event",     "tracing",       "load",
    "execution",           "kernel",           "unknown"};

[[nodiscard]] constexpr std::string_view cause_name(Cause cause) {
    return kCauseNames[static_cast<std::size_t>(cause)];
}

struct Finding {
    Cause cause = Cause::unknown;
    lib::Ticks gain{};                             // so much earlier without it
    std::uint32_t who = schedule::kUnknownContext; // task, vector or server; of a mutex its holder
    std::uint32_t object = 0;                      // mutex, or what it waited for
    std::uint32_t wait = 0;                        // lock_across_wait: what the holder waited for
    schedule::RecordPlace place{};                 // where the longest piece begins
    lib::Ticks longest{};                          // that piece
    schedule::Executor ended_by{};                 // late_event: what ran when the wait ended
    std::vector<std::uint32_t> tasks{};            // others_overrun, priority_order, load, missing_inheritance: which
    bool decisive = false; // server_budget: before its first deadline the server had less than the job needed
    std::optional<lib::Ticks> since{}; // others_overrun: it counts from there, not from the release
};

struct Diagnosis {
    // f - d; nothing without a deadline.
    std::optional<std::int64_t> lateness{};
    std::vector<Finding> findings; // the most important first
    // So many of the first ones together would have sufficed; 0 if it was on time, has no deadline, or none do.
    std::size_t needed = 0;

    [[nodiscard]] bool is_late() const { return lateness && *lateness > 0; }
};

// Precondition: the job is_known(). ticks_per_record: of the tracer; 0 if it is not known.
[[nodiscard]] Diagnosis diagnose(const JobCase& job, double ticks_per_record);

} // namespace host::analyse::why
