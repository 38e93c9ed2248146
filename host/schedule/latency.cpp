// SPDX-License-Identifier: MIT
#include "host/schedule/latency.hpp"

namespace host::schedule {

namespace {

using Kind = Change::Kind;
using trace::kCodeOf;

} // namespace

void Latencies::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    for (const Change& change : changes) {
        switch (change.kind) {
        case Kind::interrupt_began:
            m_handlers[event.cpu].push_back(entry_of(event));
            break;
        case Kind::interrupt_ended:
            if (std::vector<Entry>& handlers = m_handlers[event.cpu]; !handlers.empty()) {
                handlers.pop_back();
            }
            break;
        case Kind::woken:
            // A switch to a task that was not ready: the record of its wake-up is missing.
            if (const std::vector<Entry>& handlers = m_handlers[event.cpu];
                !handlers.empty() && !event.is(kCodeOf<"context_switch">) &&
                schedule.running(event.cpu) != change.context) {
                m_woken[change.context] = {.context = static_cast<std::uint16_t>(change.context),
                                           .entry = handlers.back(),
                                           .ready = Moment::of(event),
                                           .first = {}};
            }
            break;
        case Kind::switched:
            if (const auto woken = m_woken.find(change.context); woken != m_woken.end()) {
                woken->second.first = Moment::of(event);
                m_sink(woken->second);
                m_woken.erase(woken);
            }
            break;
        case Kind::waits:
        case Kind::created:
        case Kind::ended:
        case Kind::forgotten:
            m_woken.erase(change.context);
            break;
        case Kind::job_began:
        case Kind::job_ended:
        case Kind::inherits:
        case Kind::returns:
        case Kind::gap:
        case Kind::lost:
            break;
        }
    }
}

} // namespace host::schedule
