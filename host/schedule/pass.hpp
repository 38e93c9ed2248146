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
#include "host/schedule/schedule_step.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
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

    // Takes a batch (host/trace/event_stream.hpp). A watcher has two functions:
    //   before(event, code)             of each event, before the schedule takes it
    //   after(event, code, changes)     after it, if there are changes
    template <typename Watcher>
    void take(std::span<const trace::Event> batch, std::uint32_t khz, Watcher& watcher) {
        const auto take_single = [&](const trace::Event& event) {
            watcher.before(event, event.code);
            if (const std::span<const Change> changes = take(event, khz); !changes.empty()) {
                watcher.after(event, event.code, changes);
            }
        };
        take_single(batch.front()); // another processor may have changed what this processor executes
        batch = batch.subspan(1);
        if (batch.empty()) {
            return;
        }
        if (!m_accounting.begin_batch(batch)) {
            std::ranges::for_each(batch, take_single);
            return;
        }
        trace::for_each_by_code(batch, [&, khz](const trace::Event& event, std::size_t position, auto code) {
            watcher.before(event, code);
            if (!kConcerns[code] && !m_schedule.has_forgotten()) {
                return;
            }
            const std::span<const Change> changes = Schedule::kMayChange[code] || m_schedule.has_forgotten()
                                                        ? m_schedule.follow(event, code)
                                                        : std::span<const Change>();
            m_accounting.take(position, code, changes, m_schedule, khz);
            if (!changes.empty()) {
                watcher.after(event, code, changes);
            }
        });
        m_accounting.end_batch();
    }

    // Must be called at the end of the trace: reports the open jobs, as not accounted.
    void finish() { m_accounting.finish(); }

    [[nodiscard]] const Schedule& schedule() const { return m_schedule; }

    [[nodiscard]] const Accounting& accounting() const { return m_accounting; }

    // Must be called if records are missing before the next event; see Schedule::forget().
    void forget(std::uint16_t cpu) { m_schedule.forget(cpu); }

  private:
    // Events of other codes change neither the schedule nor any account.
    static constexpr auto kConcerns = [] {
        std::array<bool, 256> concerns = Accounting::kConcerns;
        for (std::size_t code = 0; code < concerns.size(); ++code) {
            concerns[code] = concerns[code] || Schedule::kMayChange[code];
        }
        return concerns;
    }();

    Schedule m_schedule;
    Accounting m_accounting;
};

} // namespace host::schedule
