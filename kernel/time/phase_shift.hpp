// SPDX-License-Identifier: MIT
// Phases are moved from outside: the words shift= and event_shift= delay the activations of tasks, by name, and the
// beginning of periodic timer events, so that a search can run an application again with its releases and interrupts at
// other instants (tests/sweep). Without the words nothing is delayed, and an activation costs one more test.
//
//   shift=sensor:120,control:7     every activation of `sensor` is 120 ticks later than asked for, of `control` 7
//   event_shift=40                 every periodic event begins 40 ticks later
#pragma once

#include "kernel/irq_off.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <string_view>

namespace kernel {

inline constexpr std::size_t kPhaseShiftsMax = 32;

// Returns whether the text is NAME:TICKS with ticks below 2^32, or at most kPhaseShiftsMax of these separated by
// commas. A name ends at its last colon and contains no comma and no blank.
[[nodiscard]] bool phase_shifts_valid(std::string_view tasks);

// Sets the shifts from now on. The text lives as long as the system. Precondition: the text is valid or empty. Context:
// boot.
void set_phase_shifts(std::string_view tasks, lib::Ticks events, IrqOff);

namespace detail {

extern constinit bool g_tasks_shifted;

[[nodiscard]] lib::Ticks shift_of_task(std::string_view name);

} // namespace detail

// Returns the delay of the activations of tasks with this name.
[[nodiscard]] inline lib::Ticks release_shift(std::string_view name, IrqOff) {
    return detail::g_tasks_shifted ? detail::shift_of_task(name) : lib::Ticks{};
}

// Returns the delay of a periodic timer event. Context: any.
[[nodiscard]] lib::Ticks event_shift();

// Returns a name of the word shift= under which no task has been activated, or nothing if there is none. Context: any.
[[nodiscard]] std::string_view unused_phase_shift();

} // namespace kernel
