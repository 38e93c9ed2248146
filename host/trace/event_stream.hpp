// SPDX-License-Identifier: MIT
// What every reader is: a stream of events in time order, and the facts gathered on the way. One class per format
// implements it; users open a Trace, which chooses.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <span>

namespace host::trace {

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
