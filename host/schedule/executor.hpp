// SPDX-License-Identifier: MIT
// Records what one processor executes at each moment: a task, a handler, the scheduler (from the record that a task
// leaves to the switch), or a section with interrupts off. The stretches follow each other without gap or overlap. The
// latest ones are kept, so that culprits can be found for a job whose release is recorded late.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/schedule/share.hpp"
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

    // Takes the next event of this processor. now: the event's time, which must never decrease. schedule: its state
    // after the event. Returns whether something else executes from then on.
    bool take(const trace::Event& event, const Schedule& schedule, lib::Ticks now) {
        if (event.after_hole) [[unlikely]] {
            lose();
        }
        m_stamps[m_records++ % kStampsMax] = now;
        // An event of another code changes what executes only if another processor has taken the task.
        const Schedule::Processor& here = schedule.processor(event.cpu);
        return kMayChange[event.code] || m_running != here.running || !m_begun ? change(event, schedule, now) : false;
    }

    static constexpr const auto& kMayChange =
        trace::kAnyOf<"task_epilogue", "task_dispatch", "context_switch", "CLI", "STI", "timer_wakeup_start",
                      "timer_wakeup_end", "interrupt_start", "interrupt_end", "blackout_start", "blackout_end",
                      "trace_start">;

    // States that what has executed since the latest event is not known.
    void lose();

    [[nodiscard]] Executor now() const { return m_now; }

    // Returns how many records this processor has written so far, including the current event.
    [[nodiscard]] std::uint64_t records() const { return m_records; }

    // Returns how many records have stamps in (begin, end], as far as the history reaches.
    [[nodiscard]] std::uint64_t records_within(lib::Ticks begin, lib::Ticks end) const;

    // Calls the function with the stretches that overlap [begin, end), cut to it, oldest first. What is older than the
    // history is unknown. end must not be after the latest event.
    template <typename Function>
    void within(lib::Ticks begin, lib::Ticks end, Function&& function) const;

  private:
    static constexpr std::size_t kStretchesMax = 4096;
    static constexpr std::size_t kStampsMax = 4096;

    bool change(const trace::Event& event, const Schedule& schedule, lib::Ticks now);
    [[nodiscard]] Executor executor_of(const trace::Event& event, const Schedule::Processor& here);
    void end_stretch(lib::Ticks now);

    // Returns an ended stretch by its position; 0 is the oldest that is kept.
    [[nodiscard]] const Stretch& past(std::size_t position) const {
        return m_past[m_past.size() < kStretchesMax ? position : (m_ended + position) % kStretchesMax];
    }

    std::vector<Stretch> m_past; // the latest stretches, a ring once there are kStretchesMax
    std::uint64_t m_ended = 0;   // how many stretches have ended: number n is at n % kStretchesMax
    Executor m_now;
    lib::Ticks m_since;
    // Holds the latest stamps as a ring: that of record n is at n % kStampsMax.
    std::vector<lib::Ticks> m_stamps = std::vector<lib::Ticks>(kStampsMax);
    std::uint64_t m_records = 0;
    std::uint32_t m_running = kUnknownContext; // at the latest event
    bool m_begun = false;
    bool m_switching = false;   // a task has left the processor, and the next one has not got it yet
    bool m_section = false;     // between CLI and STI
    std::uint32_t m_timers = 0; // nested timer handlers
};

inline Executor ExecutorHistory::executor_of(const trace::Event& event, const Schedule::Processor& here) {
    switch (event.code) {
    case trace::kCodeOf<"task_epilogue">:
        m_switching = true;
        break;
    // Without a switch the same task continues.
    case trace::kCodeOf<"task_dispatch">:
        m_switching = m_switching && event.par1 != here.running;
        break;
    case trace::kCodeOf<"context_switch">:
        m_switching = false;
        break;
    case trace::kCodeOf<"CLI">:
        m_section = true;
        break;
    case trace::kCodeOf<"STI">:
        m_section = false;
        break;
    case trace::kCodeOf<"timer_wakeup_start">:
        ++m_timers;
        break;
    case trace::kCodeOf<"timer_wakeup_end">:
        m_timers -= m_timers != 0 ? 1U : 0U;
        break;
    case trace::kCodeOf<"blackout_start">:
    case trace::kCodeOf<"blackout_end">:
    case trace::kCodeOf<"trace_start">:
        m_switching = m_section = false;
        m_timers = 0;
        break;
    default:
        break;
    }
    if (here.depth != 0) {
        return {By::interrupt, here.vectors[here.depth - 1]};
    }
    if (m_timers != 0) {
        return {By::interrupt, kTimerHandler};
    }
    if (here.running == kUnknownContext) {
        return {};
    }
    if (m_switching) {
        return {By::kernel, here.running};
    }
    return {m_section ? By::section : By::task, here.running};
}

inline void ExecutorHistory::end_stretch(lib::Ticks now) {
    if (m_ended < kStretchesMax) [[unlikely]] {
        m_past.resize(m_past.size() + 1);
    }
    m_past[m_ended++ % kStretchesMax] = {m_now, m_since, now};
}

inline void ExecutorHistory::lose() {
    if (m_begun) {
        const lib::Ticks last = m_stamps[(m_records - 1) % kStampsMax];
        if (m_since < last) {
            end_stretch(last);
        }
        m_since = last;
        m_now = {};
        m_running = kUnknownContext;
    }
    m_switching = m_section = false;
    m_timers = 0;
}

inline bool ExecutorHistory::change(const trace::Event& event, const Schedule& schedule, lib::Ticks now) {
    const Schedule::Processor& here = schedule.processor(event.cpu);
    m_running = here.running;
    const Executor known = executor_of(event, here);
    const Executor next = schedule.is_hidden(trace::Filters::kExecution) ? Executor{} : known;
    const bool is_new = !(next == m_now);
    if (m_begun && !is_new) {
        return false;
    }
    if (m_begun && m_since < now) {
        end_stretch(now);
    }
    m_since = now;
    m_now = next;
    m_begun = true;
    return is_new;
}

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

inline std::uint64_t ExecutorHistory::records_within(lib::Ticks begin, lib::Ticks end) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = m_records; i > 0 && m_records - i < kStampsMax; --i) {
        const lib::Ticks stamp = m_stamps[(i - 1) % kStampsMax];
        if (stamp <= begin) {
            break;
        }
        count += stamp <= end ? 1U : 0U;
    }
    return count;
}

} // namespace host::schedule
