// SPDX-License-Identifier: MIT
// The interface of every reader: a stream of events in time order, and the facts that are gathered meanwhile. One class
// per format implements it; users open a Trace, which chooses the class.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>

namespace host::trace {

// Names the kinds of input. `detect` examines the first bytes, never the name.
enum class InputKind : std::uint8_t {
    detect,
    records,  // chunks, plain or compact, with or without preambles
    kev,      // QNX .kev
    tlog,     // tlog, current layout
    tlog_old, // tlog of the OpenMP runtime
    capture,  // pcap or pcapng with our packets
    fat,      // image of a FAT volume with Ntrace.dat files
    packed,   // our own packed session
    memory,   // memory of a machine: RAM file, pmemsave, ELF core
};

// States how the memory of a running machine is read: the trace continues while the machine runs.
struct FollowOptions {
    bool wanted = false;
    std::chrono::milliseconds wake{0}; // after so long without records a part without records is delivered; 0: never
    std::chrono::milliseconds idle{0}; // the trace ends after so long without a new record; 0: never
    // The trace ends when this is not 0, also one that waits for the writer of a pipe; null: never.
    const volatile std::sig_atomic_t* stop = nullptr;
};

struct OpenOptions {
    std::uint32_t tsc_khz = 0; // rate that replaces that of the trace; 0: none
    std::string kernel{};      // kernel image, for the formats of trace_printf; empty: the session's copy, if any
    bool find_kernel = true;   // searches for the image if none is named; false for readers that show no texts
    InputKind kind = InputKind::detect;
    bool machine_clock = false; // times follow the machine's counter, even if the kernel's clock was set back
    bool strict = false;        // stop at the first damage
    bool salvage = false;       // also decodes chunks whose checksum or count is wrong
    bool whole_first = false;   // a pipe is copied to a file first, so that damage is known before any record is used
    FollowOptions follow{};
};

class EventStream {
  public:
    EventStream() = default;
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;
    virtual ~EventStream() = default;

    // Returns the next events in time order; empty at the end. They, and what they point to, are valid until the next
    // call. The time of a call is proportional to the input that it consumes; memory is bounded for any input. A batch
    // of one may be any event. The events of a larger batch are plain: valid records of ours, simple ones of our table,
    // without metadata, of one chunk image and so of one processor; no stamp is less than the one before it; none of
    // them begins or ends a gap (blackout_*, trace_start, trace_stop). So a reader examines what they have in common
    // only once.
    [[nodiscard]] std::span<const Event> next_batch() {
        const std::span<Event> batch = read_batch();
        if (!batch.empty() && is_judged(batch.front())) { // within a batch nothing is missing
            batch.front().after_hole = m_holes.before(batch.front(), m_facts);
        }
        return batch;
    }

    // The facts grow while events are taken and are complete after the last one.
    [[nodiscard]] const TraceFacts& facts() const { return m_facts; }

  protected:
    // Returns what next_batch() is to return, without the holes.
    [[nodiscard]] virtual std::span<Event> read_batch() = 0;

    TraceFacts m_facts;
    Event m_single; // the event of a batch of one

  private:
    // What is not judged changes no state, so the next event that is has the hole before it.
    [[nodiscard]] static bool is_judged(const Event& event) {
        return !event.metadata && event.row != nullptr && event.is_sound();
    }

    Holes m_holes;
};

} // namespace host::trace
