// SPDX-License-Identifier: MIT
// The interrupt handlers of each processor, nested as they were. A handler is reported when it ends, so after those
// that interrupted it.
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace host::schedule {

struct Handler {
    std::uint32_t vector = 0;
    std::uint16_t cpu = 0;
    std::uint32_t task = kUnknownContext; // that it interrupted
    std::size_t depth = 1;                // 1: it interrupted no other handler
    Moment begin;
    std::optional<Moment> end{}; // none: its record is missing
};

class Handlers {
  public:
    using Sink = std::function<void(const Handler&)>;

    explicit Handlers(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule made of the event. schedule: after it. A handler that ended in a gap is not reported.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

    // At the end of the trace: reports what is open.
    void finish();

  private:
    Sink m_sink;
    std::map<std::uint16_t, std::vector<Handler>> m_open; // by processor, outermost first
};

} // namespace host::schedule
