// SPDX-License-Identifier: MIT
// Field numbers of Perfetto's trace format, as its published schema has them (protos/perfetto/trace, 2026-08), and the
// few values that are used. tests/viewers/perfetto_trace.proto is the same list, from which `protoc` reads our files.
#pragma once

#include <cstdint>

namespace host::convert::perfetto {

enum class Trace : std::uint32_t { packet = 1 };

enum class Packet : std::uint32_t {
    ftrace_events = 1,
    process_tree = 2,
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10, // trusted_packet_sequence_id
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    previous_packet_dropped = 42,
    system_info = 45,
    track_descriptor = 60,
};

inline constexpr std::uint32_t kStateCleared = 1; // sequence_flags
inline constexpr std::uint32_t kNeedsState = 2;

enum class Bundle : std::uint32_t { cpu = 1, event = 2, lost_events = 3, compact_sched = 4 };

enum class CompactSched : std::uint32_t {
    switch_timestamp = 1,
    switch_prev_state = 2,
    switch_next_pid = 3,
    switch_next_prio = 4,
    intern_table = 5,
    switch_next_comm_index = 6,
    waking_timestamp = 7,
    waking_pid = 8,
    waking_target_cpu = 9,
    waking_prio = 10,
    waking_comm_index = 11,
};

enum class FtraceEvent : std::uint32_t { timestamp = 1, pid = 2, irq_handler_entry = 36, irq_handler_exit = 37 };
enum class IrqEntry : std::uint32_t { irq = 1, name = 2 };
enum class IrqExit : std::uint32_t { irq = 1, ret = 2 };

enum class ProcessTree : std::uint32_t { processes = 1, threads = 2 };
enum class Process : std::uint32_t { pid = 1, ppid = 2, cmdline = 3 };
enum class Thread : std::uint32_t { tid = 1, name = 2, tgid = 3 };

enum class ClockSnapshot : std::uint32_t { clocks = 1, primary_trace_clock = 2 };
enum class Clock : std::uint32_t { clock_id = 1, timestamp = 2 };
inline constexpr std::uint32_t kClockBoottime = 6;
inline constexpr std::uint32_t kClockTsc = 9;

enum class SystemInfo : std::uint32_t { utsname = 1 };
enum class Utsname : std::uint32_t { sysname = 1, version = 2, release = 3, machine = 4 };

enum class TrackDescriptor : std::uint32_t { uuid = 1, name = 2, thread = 4, parent_uuid = 5, counter = 8 };
enum class ThreadDescriptor : std::uint32_t { pid = 1, tid = 2, name = 5 };
enum class CounterDescriptor : std::uint32_t { unit = 3 };
inline constexpr std::uint32_t kUnitTimeNs = 1;

enum class TrackEvent : std::uint32_t {
    annotations = 4,
    type = 9,
    name_iid = 10,
    track_uuid = 11,
    name = 23,
    counter_value = 30,
    flow_ids = 47,
    terminating_flow_ids = 48,
};

enum class EventType : std::uint32_t { begin = 1, end = 2, instant = 3, counter = 4 };

enum class Annotation : std::uint32_t { name_iid = 1, uint_value = 3, string_value = 6, pointer_value = 7 };

enum class InternedData : std::uint32_t { event_names = 2, annotation_names = 3 };
enum class Interned : std::uint32_t { iid = 1, name = 2 };

} // namespace host::convert::perfetto
