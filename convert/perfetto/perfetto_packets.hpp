// SPDX-License-Identifier: MIT
// Writes the packets of a Perfetto trace one at a time. Each has its own length in the file, so a trace can be cut and
// joined between any two. Messages are protozero's; frequent ones are written in place.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/text/digits.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#define PROTOZERO_USE_VIEW std::string_view // the type of texts in its functions
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>

namespace host::convert::perfetto {

// These are field numbers of Perfetto's published schema (protos/perfetto/trace, 2026-08), and the few values that are
// used. tests/viewers/perfetto_trace.proto is the same list, with which `protoc` reads our files.

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

template <typename Field>
using Message = protozero::pbf_builder<Field>;

inline constexpr std::size_t kVarintMax = 10;
inline constexpr std::size_t kNumberMax = 3 + kVarintMax; // with its tag, and the bytes that put_varint() writes after
                                                          // it

[[nodiscard]] constexpr std::size_t varint_bytes(std::uint64_t value) {
    return (9 * static_cast<unsigned>(std::bit_width(value | 1)) + 64) / 64;
}

// Writes a varint; kVarintMax bytes of room are needed. Groups of seven bits are moved to bytes by halves, and all but
// the last are marked.
[[nodiscard]] inline char* put_varint(char* at, std::uint64_t value) {
    if (value < 0x80) {
        *at = static_cast<char>(value);
        return at + 1;
    }
    if (value >> 56 != 0) {
        return at + protozero::add_varint_to_buffer(at, value);
    }
    value = (value & 0x0000'0000'0FFF'FFFF) | (value & 0x00FF'FFFF'F000'0000) << 4;
    value = (value & 0x0000'3FFF'0000'3FFF) | (value & 0x0FFF'C000'0FFF'C000) << 2;
    value = (value & 0x007F'007F'007F'007F) | (value & 0x3F80'3F80'3F80'3F80) << 1;
    const auto last = static_cast<unsigned>(std::bit_width(value) - 1) / 8;
    value |= 0x8080'8080'8080'8080 & ((std::uint64_t{1} << (8 * last)) - 1);
    __builtin_memcpy(at, &value, sizeof value);
    return at + last + 1;
}

template <typename Field>
[[nodiscard]] char* put_number(char* at, Field field, std::uint64_t value) {
    return put_varint(put_varint(at, std::uint64_t{static_cast<std::uint32_t>(field)} << 3), value);
}

// Returns the tag of a text or a message.
template <typename Field>
[[nodiscard]] char* put_tag(char* at, Field field) {
    constexpr std::uint32_t kLengthDelimited = 2;
    return put_varint(at, std::uint64_t{static_cast<std::uint32_t>(field)} << 3 | kLengthDelimited);
}

// Tag and length of a field whose content follows need this room.
inline constexpr std::size_t kFrameMax = 16;

template <typename Field>
[[nodiscard]] char* put_frame(char* at, Field field, std::size_t bytes) {
    return put_varint(put_tag(at, field), bytes);
}

// Writes a message whose fields put(char*) writes in place; the caller appends `more`, which put() may change.
// kFrameMax bytes of room are needed beside the fields. Most messages are shorter than 128 bytes, so their length has
// one byte; longer ones are moved.
template <typename Field, typename Put>
[[nodiscard]] char* put_message(char* at, Field field, Put put, const std::string& more = {}) {
    at = put_tag(at, field);
    char* const content = at + 1;
    char* const end = put(content);
    const auto bytes = static_cast<std::size_t>(end - content);
    const std::size_t length = bytes + more.size();
    if (length < 0x80) [[likely]] {
        *at = static_cast<char>(length);
        return end;
    }
    const std::size_t further = varint_bytes(length) - 1;
    std::memmove(content + further, content, bytes);
    protozero::add_varint_to_buffer(at, length);
    return end + further;
}

class Packets {
  public:
    // There is one sequence for processors and one for tracks; each has its own interned names and losses.
    enum class Sequence : std::uint32_t { sched = 1, tracks = 2 };

    explicit Packets(OutputFile& file)
        : m_file(file) {}

    // Returns a message to be filled; add() writes it. There may be one at a time.
    [[nodiscard]] Message<Packet> start(Sequence sequence) {
        m_packet.clear();
        Message<Packet> packet(m_packet);
        packet.add_uint32(Packet::sequence_id, static_cast<std::uint32_t>(sequence));
        return packet;
    }

    // Appends encoded fields to the innermost open message.
    void append_encoded(std::string_view fields) { m_packet += fields; }

    // Writes a whole packet. put(char*) writes its fields in at most `room` bytes; `more` follows them.
    template <typename Put>
    void add(std::size_t room, Put put, const std::string& more) {
        char* const begin = m_file.room(kFrameMax + room);
        m_file.used(static_cast<std::size_t>(put_message(begin, Trace::packet, put, more) - begin));
        if (!more.empty()) {
            m_file.append(more);
        }
    }

    void add() {
        char* const begin = m_file.room(kFrameMax + m_packet.size());
        char* const at = text::put(put_frame(begin, Trace::packet, m_packet.size()), m_packet);
        m_file.used(static_cast<std::size_t>(at - begin));
    }

  private:
    OutputFile& m_file;
    std::string m_packet;
};

} // namespace host::convert::perfetto
