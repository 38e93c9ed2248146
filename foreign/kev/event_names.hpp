// SPDX-License-Identifier: MIT
// Declares the names and the numbers of the events of a .kev file. The labels are those of the published printer.
// Kernel calls are shown by their number, because the numbers mean different calls in different releases.
#pragma once

#include <cstdint>
#include <string_view>

namespace host::formats::kev {

// Returns the label of an event's class: "CONTROL", "KER_CALL", ...; empty if it is unknown. class_number: as in slots.
// Labels are finer than classes: KER_CALL, KER_EXIT and INT_CALL; INT_ENTR and others; PROCESS, THREAD and VTHREAD.
[[nodiscard]] std::string_view class_label(std::uint8_t class_number, std::uint16_t event);

// Returns a static text; empty if the event has no name. User events have none.
[[nodiscard]] std::string_view event_label(std::uint8_t class_number, std::uint16_t event);

// The next numbers are those of events within their classes, as slots contain them.

// Kernel calls: call n is entered as n, left as n + kCalls, interrupted as n + 2 kCalls. With kCall64 added, the data
// are 64-bit values.
inline constexpr std::uint16_t kCalls = 128;
inline constexpr std::uint16_t kCall64 = 0x200;

inline constexpr std::uint16_t kInterruptEntry = 1; // the interrupt's number is the first data word
inline constexpr std::uint16_t kInterruptExit = 2;

// A thread enters this state. Data: pid, tid.
enum class ThreadState : std::uint16_t {
    dead,
    running,
    ready,
    stopped,
    send,
    receive,
    reply,
    stack,
    wait_thread,
    wait_page,
    signal_suspend,
    signal_wait_info,
    nanosleep,
    mutex,
    condition,
    join,
    interrupt,
    semaphore,
    wait_context,
    net_send,
    net_reply,
};

// The policy is the fourth word of a thread's state, after pid, tid and priority.
enum class SchedulingPolicy : std::uint32_t {
    no_change,
    fifo,
    round_robin,
    other,
    sporadic,
};

inline constexpr std::uint32_t kPriorityMax = 255;

inline constexpr std::uint16_t kThreadCreate = 24;
inline constexpr std::uint16_t kThreadDestroy = 25;
inline constexpr std::uint16_t kVirtualThreads = 26; // added to the number of a thread's event
inline constexpr std::uint16_t kProcessStep = 64;    // processes: 64, 128, ...
inline constexpr std::uint16_t kThreadName = 320;    // data: pid, tid, characters up to a zero

} // namespace host::formats::kev
