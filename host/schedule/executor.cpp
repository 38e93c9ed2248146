// SPDX-License-Identifier: MIT
#include "host/schedule/executor.hpp"

namespace host::schedule {

using trace::kCodeOf;

inline Executor ExecutorHistory::executor_of(const trace::Event& event, const Schedule::Processor& here) {
    switch (event.code) {
    case kCodeOf<"task_epilogue">:
        m_switching = true;
        break;
    // Without a switch the same task continues.
    case kCodeOf<"task_dispatch">:
        m_switching = m_switching && event.par1 != here.running;
        break;
    case kCodeOf<"context_switch">:
        m_switching = false;
        break;
    case kCodeOf<"CLI">:
        m_section = true;
        break;
    case kCodeOf<"STI">:
        m_section = false;
        break;
    case kCodeOf<"timer_wakeup_start">:
        ++m_timers;
        break;
    case kCodeOf<"timer_wakeup_end">:
        m_timers -= m_timers != 0 ? 1U : 0U;
        break;
    case kCodeOf<"blackout_start">:
    case kCodeOf<"blackout_end">:
    case kCodeOf<"trace_start">:
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
    if (m_past.size() < kStretchesMax) [[unlikely]] {
        m_past.resize(m_past.size() + 1);
    }
    m_past[m_ended++ % kStretchesMax] = {m_now, m_since, now};
}

bool ExecutorHistory::change(const trace::Event& event, const Schedule::Processor& here, lib::Ticks now) {
    m_running = here.running;
    const Executor next = executor_of(event, here);
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

std::uint64_t ExecutorHistory::records_within(lib::Ticks begin, lib::Ticks end) const {
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
