// SPDX-License-Identifier: MIT
#include "host/schedule/latency.hpp"

namespace host::schedule {

namespace {

using Kind = Change::Kind;
using trace::kCodeOf;

} // namespace

void Latencies::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    for (const Change& change : changes) {
        const auto context = static_cast<std::uint16_t>(change.context);
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
                m_woken[context] = {
                    .context = context, .entry = handlers.back(), .ready = Moment::of(event), .first = {}};
            }
            break;
        case Kind::switched:
            if (std::optional<Latency>& woken = m_woken[context]) {
                woken->first = Moment::of(event);
                m_sink(*woken);
                woken.reset();
            }
            break;
        case Kind::waits:
        case Kind::created:
        case Kind::ended:
        case Kind::forgotten:
            m_woken[context].reset();
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
