// SPDX-License-Identifier: MIT
// Where records were dropped: from the last moment of which something is known to the record that counts them.
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace host::schedule {

struct Loss {
    std::uint16_t cpu = 0;
    std::uint32_t records = 0;
    std::optional<Moment> begin{}; // none: the processor had no event before
    Moment end;
};

class Losses {
  public:
    using Sink = std::function<void(const Loss&)>;

    explicit Losses(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule made of the event. before: the event of this processor before this one.
    void take(const trace::Event& event, std::span<const Change> changes, const std::optional<Moment>& before) {
        for (const Change& change : changes) {
            if (change.kind == Change::Kind::lost) {
                std::optional<Moment> begin = std::exchange(m_blackouts[event.cpu], std::nullopt);
                m_sink({.cpu = event.cpu,
                        .records = change.object,
                        .begin = begin ? begin : before,
                        .end = Moment::of(event)});
            }
        }
        if (event.is(trace::kCodeOf<"blackout_start">)) {
            m_blackouts[event.cpu] = Moment::of(event);
        }
    }

  private:
    Sink m_sink;
    std::map<std::uint16_t, std::optional<Moment>> m_blackouts; // by processor: since when
};

} // namespace host::schedule
