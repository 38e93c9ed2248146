// SPDX-License-Identifier: MIT
// Who held which mutex, from when to when. A hold is reported when it ends. Where records were dropped it ends with the
// last record before the gap.
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace host::schedule {

enum class HoldEnd : std::uint8_t {
    unlocked,
    taken, // by another: the record of the unlock is missing
    owner_died,
    records_lost,
    end_of_trace,
};

struct Hold {
    std::uint32_t mutex = 0;
    std::uint32_t context = 0;
    HoldEnd how = HoldEnd::end_of_trace;
    Moment begin;
    std::optional<Moment> end{}; // none: no record of its processor precedes the gap
};

class Holds {
  public:
    using Sink = std::function<void(const Hold&)>;

    explicit Holds(Sink sink)
        : m_sink(std::move(sink)) {}

    // schedule: after the event. before: the event of this processor before this one.
    void take(const trace::Event& event, const Schedule& schedule, const std::optional<Moment>& before);

    // At the end of the trace: reports what is open.
    void finish();

  private:
    void take_mutex(const trace::Event& event, const Schedule& schedule);
    void end(Hold hold, const std::optional<Moment>& now, HoldEnd how);

    Sink m_sink;
    std::map<std::uint32_t, Hold> m_open; // by mutex
    std::optional<Moment> m_latest;       // of all events
};

} // namespace host::schedule
