// SPDX-License-Identifier: MIT
#include "host/analyse/tally.hpp"

#include "host/trace/event.hpp"

#include <algorithm>

namespace host::analyse {

using trace::kCodeOf;

void Tally::give(const ProcessorTime::Stretch& stretch) {
    if (stretch.task) {
        lib::Ticks& busy = m_busy[*stretch.task];
        busy = busy + stretch.length();
    }
}

// The events of a batch of more than one are plain, and of one processor.
void Tally::add(std::span<const trace::Event> batch) {
    if (batch.size() == 1) {
        add_one(batch.front());
        return;
    }
    m_events += batch.size();
    m_first = std::min(m_first, batch.front().ticks);
    m_last = std::max(m_last, batch.back().ticks);
    ProcessorTime& processor = m_processors[batch.front().cpu];
    for (const trace::Event& event : batch) {
        ++m_counts[event.code];
        if (event.code == kCodeOf<"context_switch">) {
            processor.saw(event.ticks);
            give(processor.take(event.code, event.par1));
            m_busy.try_emplace(event.par1);
        }
    }
    processor.saw(batch.back().ticks);
}

void Tally::add_one(const trace::Event& event) {
    if (event.metadata || !event.is_sound()) {
        return;
    }
    ++m_events;
    m_first = std::min(m_first, event.ticks);
    m_last = std::max(m_last, event.ticks);
    if (event.row == nullptr) {
        if (trace::is_foreign(event)) {
            m_processors[event.cpu].saw(event.ticks);
        }
        return;
    }
    ++m_counts[event.code];
    ProcessorTime& processor = m_processors[event.cpu];
    processor.saw(event.ticks);
    if (ProcessorTime::concerns(event.code)) {
        give(processor.take(event.code, event.par1));
    }
    if (event.code == kCodeOf<"context_switch">) {
        m_busy.try_emplace(event.par1);
    }
}

void Tally::finish() {
    for (auto& [number, processor] : m_processors.values()) {
        give(processor.finish());
    }
}

} // namespace host::analyse
