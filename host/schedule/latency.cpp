// SPDX-License-Identifier: MIT
#include "host/schedule/latency.hpp"

#include <algorithm>

namespace host::schedule {

void Latencies::wake(const trace::Event& event, std::uint32_t context, const Schedule& schedule) {
    const std::vector<Entry>& handlers = m_handlers[event.cpu];
    if (handlers.empty() || schedule.running(event.cpu) == context) {
        return;
    }
    drop(context);
    m_woken.push_back({.context = static_cast<std::uint16_t>(context),
                       .entry = handlers.back(),
                       .ready = Moment::of(event),
                       .first = {}});
}

void Latencies::run(const trace::Event& event, std::uint32_t context) {
    const auto woken = std::ranges::find(m_woken, static_cast<std::uint16_t>(context), &Latency::context);
    if (woken != m_woken.end()) {
        woken->first = Moment::of(event);
        m_sink(*woken);
        m_woken.erase(woken);
    }
}

void Latencies::drop(std::uint32_t context) {
    std::erase_if(m_woken, [context](const Latency& woken) { return woken.context == context; });
}

} // namespace host::schedule
