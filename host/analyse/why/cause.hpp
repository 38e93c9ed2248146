// SPDX-License-Identifier: MIT
// What can make a job late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace host::analyse::why {

enum class Cause : std::uint8_t {
    missing_inheritance, // a task that holds nothing ran while the holder could not
    lock_across_wait,    // the holder of a mutex waited for something else
    own_overrun,         // it executed more than it declares
    others_overrun,      // another task did, or an earlier job of this one
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
    unknown,             // no record says what ran, or who held the mutex
};

inline constexpr std::array<std::string_view, 15> kCauseNames = {
    "missing_inheritance", "lock_across_wait", "own_overrun",      "others_overrun", "server_budget", "priority_order",
    "interrupts_off",      "interrupt_load",   "critical_section", "late_event",     "tracing",       "load",
    "execution",           "kernel",           "unknown"};

[[nodiscard]] constexpr std::string_view cause_name(Cause cause) {
    return kCauseNames[static_cast<std::size_t>(cause)];
}

} // namespace host::analyse::why
