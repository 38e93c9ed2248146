// SPDX-License-Identifier: MIT
#include "host/schedule/handlers.hpp"

namespace host::schedule {

void Handlers::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    for (const Change& change : changes) {
        if (change.kind == Change::Kind::interrupt_began) {
            std::vector<Handler>& open = m_open[event.cpu];
            open.push_back({.vector = change.object,
                            .cpu = event.cpu,
                            .task = schedule.running(event.cpu),
                            .depth = open.size() + 1,
                            .begin = Moment::of(event)});
        } else if (change.kind == Change::Kind::interrupt_ended) {
            std::vector<Handler>& open = m_open[event.cpu];
            Handler ended = open.back();
            open.pop_back();
            if (!event.is(trace::kCodeOf<"blackout_end">)) { // else it ended somewhere in the gap
                ended.end = change.object == event.par1 ? std::optional(Moment::of(event)) : std::nullopt;
                m_sink(ended);
            }
        }
    }
}

void Handlers::finish() {
    for (auto& [cpu, open] : m_open) {
        for (; !open.empty(); open.pop_back()) {
            m_sink(open.back());
        }
    }
}

} // namespace host::schedule
