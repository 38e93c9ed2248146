// SPDX-License-Identifier: MIT
// The schedule (host/schedule/) in the words of other systems' viewers: thread ids, labels, Linux' task states.
//
// Thread ids: viewers take thread 0 for the idle task of each processor. So tid_of() gives 0 to the idle task, the
// context's own number to every other task, and kContextZeroTid to context 0 where it is not the idle task (what ran
// before there were tasks). The idle task is the one that is named "idle".
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace host::convert {

using schedule::Change;
using schedule::kContexts;
using schedule::kUnknownContext;
using schedule::Schedule;
using schedule::TaskState;

inline constexpr std::uint32_t kContextZeroTid = 0x1'0000;
inline constexpr std::uint32_t kUnknownTid = 0x1'0001; // of a task that no record has named yet

[[nodiscard]] bool is_idle(const trace::Names& names, std::uint32_t context);

// As the comment above says.
[[nodiscard]] std::uint32_t tid_of(const trace::Names& names, std::uint32_t context);

// A task's name, else "context-N"; "unknown" for kUnknownContext. Not escaped.
[[nodiscard]] std::string task_label(const trace::Names& names, std::uint32_t context);

// The level by which it is scheduled: 0 is searched first. 0xFFFF if the trace does not say.
[[nodiscard]] std::uint16_t level_of(const trace::Names& names, std::uint32_t context);

// The name of a vector, else "vector-N". Not escaped.
[[nodiscard]] std::string vector_label(const trace::Names& names, std::uint32_t vector);

// What a task waits for: "mutex bus", "delay". Escaped.
[[nodiscard]] std::string wait_label(const trace::Names& names, TaskState state, std::uint32_t object);

// Linux' state of a task that leaves its processor: TASK_RUNNING, TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, or `dead`,
// whose number depends on the version.
[[nodiscard]] std::uint8_t linux_state(TaskState state, std::uint8_t dead);

// Whether the changes show the whole event: a switch, or the begin or end of an interrupt. An event that changes
// nothing, such as the end of an interrupt whose begin is missing, is not shown by them.
[[nodiscard]] bool is_shown(const trace::Event& event, std::span<const Change> changes);

// The task to which an event belongs: the one that it names, else the one that runs. kUnknownContext: none, or an
// interrupt.
[[nodiscard]] std::uint32_t task_of(const trace::Event& event, const Schedule& schedule);

} // namespace host::convert
