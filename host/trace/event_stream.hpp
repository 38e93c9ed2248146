// SPDX-License-Identifier: MIT
// What every reader is: a stream of events in time order, and the facts gathered on the way. One class per format
// implements it; users open a Trace, which chooses.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>

namespace host::trace {

// What the user may say about a trace when it is opened.

// The kinds of input. `detect` looks at the first bytes, never at the name.
enum class InputKind : std::uint8_t {
    detect,
    records,  // chunks, plain or compact, with or without preambles
    kev,      // QNX .kev
    tlog,     // tlog, current layout
    tlog_old, // tlog of the OpenMP runtime
    capture,  // pcap or pcapng with our packets
    fat,      // image of a FAT volume with Ntrace.dat files
    packed,   // our own packed session
    memory,   // of a machine with a kernel that has a tracer: RAM file, pmemsave, ELF core
};

// The trace of a running machine's memory continues as the machine does.
struct FollowOptions {
    bool wanted = false;
    std::chrono::milliseconds wake{0}; // a part without records comes after so long without any; 0: never
    std::chrono::milliseconds idle{0}; // ends after so long without a new record; 0: never
    const volatile std::sig_atomic_t* stop = nullptr; // ends when it is not 0; null: never
};

struct OpenOptions {
    std::uint32_t tsc_khz = 0; // 0: as the trace says
    std::string kernel{};      // image that ran, for the formats of trace_printf; empty: the session's copy, if any
    bool find_kernel = true;   // also where none is named; false: who reads shows no texts
    InputKind kind = InputKind::detect;
    bool machine_clock = false; // times of the machine's counter, also where the kernel's clock was set back
    bool strict = false;        // stop at the first damage
    bool salvage = false;       // also decode what is damaged by its checksum or count
    bool whole_first = false;   // a pipe is copied to a file first: damage is known before any record is used
    FollowOptions follow{};
};

class EventStream {
  public:
    EventStream() = default;
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;
    virtual ~EventStream() = default;

    // The next events in time order; empty at the end. They, and what they point to, are valid until the next call.
    // Each call costs time in proportion to the input it consumes; memory is bounded whatever the input. A batch of one
    // may be any event. The events of a batch of several are plain: records of ours, simple ones of our table, sound,
    // without metadata, of one chunk image and so of one processor; stamps do not fall from one to the next; none of
    // them begins or ends a gap (blackout_*, trace_start). So what is common to them need be looked at once.
    [[nodiscard]] virtual std::span<const Event> next_batch() = 0;

    // Grows while events are taken; complete after the last one.
    [[nodiscard]] const TraceFacts& facts() const { return m_facts; }

  protected:
    TraceFacts m_facts;
    Event m_single; // the event of a batch of one
};

} // namespace host::trace
