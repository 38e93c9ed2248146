// SPDX-License-Identifier: MIT
// Makes one pass over the events of a trace, in which the schedule and the account of each job are computed. What a
// command shows, lists or checks in the same pass reads these two, so that each event is followed once.
//
// Usage:
//   Pass pass([&](const JobAccount& account) { ... });
//   for each event: { const auto changes = pass.take(event, khz); consumer.add(event, changes, pass.schedule()); }
//   pass.finish();
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace host::schedule {

class Pass {
  public:
    explicit Pass(Accounting::Sink jobs, Accounting::PieceSink pieces = {})
        : m_accounting(std::move(jobs), std::move(pieces)) {}

    // Returns what the event changes, as Schedule::take() does; nothing if it is metadata. Jobs that end with the event
    // have been reported before take() returns. khz: the clock's rate, 0 if it is not known yet.
    std::span<const Change> take(const trace::Event& event, std::uint32_t khz) {
        if (event.metadata) {
            return {};
        }
        const std::span<const Change> changes = m_schedule.take(event);
        m_accounting.take(event, changes, m_schedule, khz);
        return changes;
    }

    // Must be called at the end of the trace: reports the open jobs, as not accounted.
    void finish() { m_accounting.finish(); }

    [[nodiscard]] const Schedule& schedule() const { return m_schedule; }

    [[nodiscard]] const Accounting& accounting() const { return m_accounting; }

  private:
    Schedule m_schedule;
    Accounting m_accounting;
};

} // namespace host::schedule
