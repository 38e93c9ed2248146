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
#include "host/trace/event.hpp"

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
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
        take(event, event.code, changes, schedule);
    }

    // code: the event's, where it is a constant (host/trace/by_code.hpp).
    void take(const trace::Event& event, std::uint8_t code, std::span<const Change> changes, const Schedule& schedule);

  private:
    Sink m_sink;
    void wake(const trace::Event& event, std::uint32_t context, const Schedule& schedule);
    void run(const trace::Event& event, std::uint32_t context);
    void drop(std::uint32_t context);

    trace::NumberMap<std::vector<Entry>> m_handlers; // by processor, outermost first
    std::vector<Latency> m_woken;                    // of tasks that are ready, and did not run yet: few
};

[[gnu::always_inline]] inline void Latencies::take(const trace::Event& event, std::uint8_t code,
                                                   std::span<const Change> changes, const Schedule& schedule) {
    for (const Change& change : changes) {
        switch (change.kind) {
        case Change::Kind::interrupt_began:
            m_handlers[event.cpu].push_back(entry_of(event));
            break;
        case Change::Kind::interrupt_ended:
            if (std::vector<Entry>& handlers = m_handlers[event.cpu]; !handlers.empty()) {
                handlers.pop_back();
            }
            break;
        case Change::Kind::woken:
            if (code != trace::kCodeOf<"context_switch">) { // else the record of its wake-up is missing
                wake(event, change.context, schedule);
            }
            break;
        case Change::Kind::switched:
            if (!m_woken.empty()) {
                run(event, change.context);
            }
            break;
        case Change::Kind::waits:
        case Change::Kind::created:
        case Change::Kind::ended:
        case Change::Kind::forgotten:
            if (!m_woken.empty()) {
                drop(change.context);
            }
            break;
        case Change::Kind::job_began:
        case Change::Kind::job_ended:
        case Change::Kind::inherits:
        case Change::Kind::returns:
        case Change::Kind::gap:
        case Change::Kind::lost:
            break;
        }
    }
}

} // namespace host::schedule
