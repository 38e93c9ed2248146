// SPDX-License-Identifier: MIT
// One pass over the events of a trace: the schedule, and the account of each job. Whatever a command shows, lists or
// checks in the same pass reads these two, so that each event is followed once.
//
// Usage:
//   Pass pass([&](const JobAccount& account) { ... });
//   for each event: { const auto changes = pass.take(event, khz); consumer.add(event, changes, pass.schedule()); }
//   pass.finish();
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/schedule.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace host::schedule {

class Pass {
  public:
    explicit Pass(Accounting::Sink jobs, Accounting::PieceSink pieces = {})
        : m_accounting(std::move(jobs), std::move(pieces)) {}

    // What the event changes, as Schedule::take; nothing if it is metadata. Jobs that end with it have been reported.
    // khz: the clock's rate as far as it is known, else 0.
    std::span<const Change> take(const trace::Event& event, std::uint32_t khz) {
        if (event.metadata) {
            return {};
        }
        const std::span<const Change> changes = m_schedule.take(event);
        m_accounting.take(event, changes, m_schedule, khz);
        return changes;
    }

    // At the end of the trace: reports the jobs that are open, as not accounted.
    void finish() { m_accounting.finish(); }

    [[nodiscard]] const Schedule& schedule() const { return m_schedule; }

    [[nodiscard]] const Accounting& accounting() const { return m_accounting; }

    // Records are missing before the next event: see Schedule::forget.
    void forget(std::uint16_t cpu) { m_schedule.forget(cpu); }

  private:
    Schedule m_schedule;
    Accounting m_accounting;
};

} // namespace host::schedule
