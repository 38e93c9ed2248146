// SPDX-License-Identifier: MIT
// Every limit of the kernel, in one place. All storage is static: a limit that is reached is an error (no_space), never
// a crash.
#pragma once

#include "lib/units.hpp"

#include <cstddef>

namespace kernel {

inline constexpr std::size_t kTasksMax = 64;
inline constexpr std::size_t kTaskNameBytes = 32;
inline constexpr std::size_t kStackBytes = 16 * 1024;
inline constexpr std::size_t kGuardBytes = 4096;
inline constexpr std::size_t kLevelsMax = 30;
inline constexpr std::size_t kRunLevelFunctionsMax = 40;

// Timer events of applications and drivers. The kernel's own per-task timers come on top and cannot run out.
inline constexpr std::size_t kTimerEventsMax = 256;
inline constexpr std::size_t kTimersPerTask = 4;
inline constexpr std::size_t kTimersMax = kTimerEventsMax + kTasksMax * kTimersPerTask;

// Handlers run by one timer interrupt at most; what is left raises the next one at once, so that other interrupts get
// their turn.
inline constexpr std::size_t kTimerBatchMax = 64;

// A shorter period would leave no time for anything else.
inline constexpr lib::Nanoseconds kTimerPeriodMin = lib::microseconds(10);

inline constexpr lib::Nanoseconds kSliceDefault = lib::milliseconds(5);

} // namespace kernel
