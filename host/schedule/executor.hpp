// SPDX-License-Identifier: MIT
// What one processor executes at each moment: a task, a handler, the scheduler between the record that a task leaves
// and the switch, or a section with interrupts off. The stretches follow each other without gap or overlap; the latest
// ones are kept, so that a job whose release is recorded late can be given its culprits.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/schedule/share.hpp"
#include "host/trace/code_set.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace host::schedule {

struct Executor {
    By by = By::unknown; // unknown, task, interrupt, kernel or section
    std::uint32_t who = kUnknownContext;

    friend bool operator==(const Executor&, const Executor&) = default;
};

class ExecutorHistory {
  public:
    struct Stretch {
        Executor executor{};
        lib::Ticks begin{};
        lib::Ticks end{};
    };

    // The next event of this processor, at `now`, which never falls. schedule: after the event. Returns whether
    // something else executes from there on.
    bool take(const trace::Event& event, const Schedule& schedule, lib::Ticks now) {
        m_stamps[m_records++ % kStampsMax] = now;
        // Otherwise only another processor can have changed what executes: it has taken the task.
        const Schedule::Processor& here = schedule.processor(event.cpu);
        return kMayChange[event.code] || m_running != here.running || !m_begun ? change(event, here, now) : false;
    }

    [[nodiscard]] Executor now() const { return m_now; }

    // Of this processor so far, this event included.
    [[nodiscard]] std::uint64_t records() const { return m_records; }

    // With stamps in (begin, end], as far as the history reaches.
    [[nodiscard]] std::uint64_t records_within(lib::Ticks begin, lib::Ticks end) const;

    // The stretches that overlap [begin, end), cut to it, oldest first; what is older than the history is unknown.
    // end: not after the latest event.
    template <typename Function>
    void within(lib::Ticks begin, lib::Ticks end, Function&& function) const;

  private:
    static constexpr std::size_t kStretchesMax = 4096;
    static constexpr std::size_t kStampsMax = 4096;

    static constexpr const auto& kMayChange =
        trace::kAnyOf<"task_epilogue", "task_dispatch", "context_switch", "CLI", "STI", "timer_wakeup_start",
                      "timer_wakeup_end", "interrupt_start", "interrupt_end", "blackout_start", "blackout_end",
                      "trace_start">;

    bool change(const trace::Event& event, const Schedule::Processor& here, lib::Ticks now);
    [[nodiscard]] Executor executor_of(const trace::Event& event, const Schedule::Processor& here);
    void end_stretch(lib::Ticks now);

    // Of those that have ended, 0 the oldest that is kept.
    [[nodiscard]] const Stretch& past(std::size_t position) const {
        return m_past[m_past.size() < kStretchesMax ? position : (m_ended + position) % kStretchesMax];
    }

    std::vector<Stretch> m_past; // the latest ones, as a ring once there are kStretchesMax
    std::uint64_t m_ended = 0;   // stretches so far: number n is at n % kStretchesMax
    Executor m_now;
    lib::Ticks m_since;
    // The latest ones, as a ring; that of record n is at n % kStampsMax.
    std::vector<lib::Ticks> m_stamps = std::vector<lib::Ticks>(kStampsMax);
    std::uint64_t m_records = 0;
    std::uint32_t m_running = kUnknownContext; // at the latest event
    bool m_begun = false;
    bool m_switching = false;   // a task has left the processor, and the next one is not there yet
    bool m_section = false;     // between CLI and STI
    std::uint32_t m_timers = 0; // nested timer handlers
};

template <typename Function>
void ExecutorHistory::within(lib::Ticks begin, lib::Ticks end, Function&& function) const {
    const auto give = [&](const Stretch& stretch) {
        const Stretch cut{stretch.executor, std::max(begin, stretch.begin), std::min(end, stretch.end)};
        if (cut.begin < cut.end) {
            function(cut);
        }
    };
    const lib::Ticks known = m_past.empty() ? m_since : past(0).begin;
    give({.begin = {}, .end = m_begun ? known : end});
    std::size_t first = m_past.size(); // most intervals are short
    while (first > 0 && past(first - 1).end > begin) {
        --first;
    }
    for (; first < m_past.size(); ++first) {
        give(past(first));
    }
    if (m_begun) {
        give({m_now, m_since, end});
    }
}

} // namespace host::schedule
