// SPDX-License-Identifier: MIT
// Declares every limit of the kernel. All storage is static: reaching a limit is an error (no_space), never a crash.
#pragma once

#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>

namespace kernel {

#ifdef REMORA_TASKS
inline constexpr std::size_t kTasksMax = REMORA_TASKS; // for measurements beside many tasks
#else
inline constexpr std::size_t kTasksMax = 64;
#endif
inline constexpr std::size_t kTaskNameBytes = 32;
inline constexpr std::size_t kStackBytes = 16 * 1024;
inline constexpr std::size_t kGuardBytes = 4096;
inline constexpr std::size_t kLevelsMax = 30;
inline constexpr std::size_t kRunLevelFunctionsMax = 40;

// Limits the number of polling and deferrable servers. CBS and GRUB tasks have a server of their own each.
inline constexpr std::size_t kServersMax = 16;

// A smaller budget would be used up by the interrupts that watch over it.
inline constexpr lib::Nanoseconds kServerBudgetMin = lib::microseconds(10);

// A HARD task may be activated for a time that is at most this long ago, so that several calls one after the other
// release tasks for one instant; an earlier time counts as now.
inline constexpr lib::Nanoseconds kActivationLagMax = lib::microseconds(100);

// Limits the activations that are kept for a busy task.
inline constexpr std::size_t kSavedArrivalsMax = 16;

// Limit the steps of one admission test, each O(reservations), with interrupts off and with interrupts on.
inline constexpr std::uint32_t kStepsMax = 500;
inline constexpr std::uint32_t kStepsPreparedMax = 20'000;

// Limits the timer events of applications and drivers. The kernel's own timers for each task are added and cannot run
// out.
inline constexpr std::size_t kTimerEventsMax = kTasksMax < 256 ? 256 : 2 * kTasksMax;
inline constexpr std::size_t kTimersPerTask = 4;
inline constexpr std::size_t kTimersMax = kTimerEventsMax + kTasksMax * kTimersPerTask + kServersMax;

// One timer interrupt runs at most this many handlers; those that are left raise the next one at once, so that other
// interrupts are served in between.
inline constexpr std::size_t kTimerBatchMax = 64;

// A shorter period would leave no time for anything else.
inline constexpr lib::Nanoseconds kTimerPeriodMin = lib::microseconds(10);

inline constexpr lib::Nanoseconds kSliceDefault = lib::milliseconds(5);

} // namespace kernel
