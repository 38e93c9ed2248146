// SPDX-License-Identifier: MIT
#include "host/analyse/latencies.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse {

namespace {

// Returns 0 if the stamps decrease.
lib::Ticks between(lib::Ticks begin, lib::Ticks end) {
    return end - std::min(begin, end);
}

} // namespace

void Leg::add(lib::Ticks duration, const schedule::Entry& entry) {
    if (!greatest || duration > durations.greatest()) {
        greatest = entry;
    }
    durations.add(duration);
}

void Latencies::add_entry(const trace::Event& event) {
    if (!event.metadata && event.is(trace::kCodeOf<"interrupt_start">)) {
        m_entries.push_back(schedule::entry_of(event));
    }
}

void Latencies::add(const schedule::Latency& latency) {
    LatencyLegs& legs = m_pairs[{latency.entry.vector, latency.context}];
    legs.to_ready.add(between(latency.entry.at.ticks, latency.ready.ticks), latency.entry);
    legs.to_first.add(between(latency.ready.ticks, latency.first.ticks), latency.entry);
    if (m_observed) {
        m_latencies.push_back(latency);
    }
}

void Latencies::finish() {
    if (!m_observed) {
        return;
    }
    m_raises = schedule::match(*m_observed, m_entries);
    const auto key = [](const schedule::Entry& entry) { return std::pair(entry.cpu, entry.at.ticks); };
    std::map<std::pair<std::uint16_t, lib::Ticks>, lib::Ticks> raised;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        if (m_raises->raised[i]) {
            raised.emplace(key(m_entries[i]), *m_raises->raised[i]);
        }
    }
    for (const schedule::Latency& latency : m_latencies) {
        if (const auto found = raised.find(key(latency.entry)); found != raised.end()) {
            m_pairs[{latency.entry.vector, latency.context}].to_entry.add(
                between(found->second, latency.entry.at.ticks), latency.entry);
        }
    }
}

} // namespace host::analyse
