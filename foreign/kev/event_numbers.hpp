// SPDX-License-Identifier: MIT
// Numbers of events within their classes, as slots contain them.
#pragma once

#include <cstdint>

namespace host::formats::kev {

// Kernel calls: call n is entered as n, left as n + kCalls, interrupted as n + 2 kCalls. With kCall64 added,
// the data hold 64-bit values.
inline constexpr std::uint16_t kCalls = 128;
inline constexpr std::uint16_t kCall64 = 0x200;

inline constexpr std::uint16_t kInterruptEntry = 1; // the interrupt's number is the first data word
inline constexpr std::uint16_t kInterruptExit = 2;

// Threads: the state that is entered; data: pid, tid.
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

// The fourth word of a thread's state, after pid, tid and priority.
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
