// SPDX-License-Identifier: MIT
// From an interrupt to the task that its handler wakes.
//
//      device raises       interrupt_start      job_release, task_unblock      context_switch
//            |--- to entry ------->|--- to ready -------------->|--- to first ------>|
//            (raises.hpp)          Latency::entry           Latency::ready      Latency::first
//
// A task that gets ready more than once before it runs counts from the first time. One that waits again, ends or is
// forgotten before it ran has no latency, nor has one that ran when its handler began: it continues, no switch shows
// when. Interrupts of the light mode (interrupt_hit) have no begin, so nothing is known of them.
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/number_map.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace host::schedule {

// An interrupt_start: who was interrupted by what, and which record of which chunk image of the trace says so.
struct Entry {
    std::uint16_t vector = 0;
    std::uint16_t cpu = 0;
    std::uint32_t source = 0;
    std::uint64_t record = 0;
    Moment at;
};

// Precondition: the event is an interrupt_start.
[[nodiscard]] inline Entry entry_of(const trace::Event& event) {
    return {.vector = event.par1,
            .cpu = event.cpu,
            .source = event.source,
            .record = event.record,
            .at = Moment::of(event)};
}

struct Latency {
    std::uint16_t context = 0; // of the task
    Entry entry;               // of the innermost handler
    Moment ready;
    Moment first; // the switch to the task; its first instruction follows the record
};

class Latencies {
  public:
    using Sink = std::function<void(const Latency&)>;

    // A latency is reported when its task runs.
    explicit Latencies(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule made of the event. schedule: after it.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

  private:
    Sink m_sink;
    trace::NumberMap<std::vector<Entry>> m_handlers;  // by processor, outermost first
    trace::NumberMap<std::optional<Latency>> m_woken; // by context: ready, and did not run yet
};

} // namespace host::schedule
