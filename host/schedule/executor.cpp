// SPDX-License-Identifier: MIT
#include "host/schedule/executor.hpp"

namespace host::schedule {

using trace::kCodeOf;

namespace {

// Only after these events, and if another processor has taken the task, something else may execute.
constexpr bool may_change(std::uint8_t code) {
    switch (code) {
    case kCodeOf<"task_epilogue">:
    case kCodeOf<"task_dispatch">:
    case kCodeOf<"context_switch">:
    case kCodeOf<"CLI">:
    case kCodeOf<"STI">:
    case kCodeOf<"timer_wakeup_start">:
    case kCodeOf<"timer_wakeup_end">:
    case kCodeOf<"interrupt_start">:
    case kCodeOf<"interrupt_end">:
    case kCodeOf<"blackout_start">:
    case kCodeOf<"blackout_end">:
    case kCodeOf<"trace_start">:
        return true;
    default:
        return false;
    }
}

} // namespace

Executor ExecutorHistory::executor_of(const trace::Event& event, const Schedule& schedule) {
    const Schedule::Processor& here = schedule.processor(event.cpu);
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

void ExecutorHistory::take(const trace::Event& event, const Schedule& schedule, lib::Ticks now) {
    if (m_stamps.size() < kStampsMax) {
        m_stamps.push_back(now);
    } else {
        m_stamps[m_records % kStampsMax] = now;
    }
    ++m_records;
    const std::uint32_t running = schedule.running(event.cpu);
    if (m_begun && m_running == running && !may_change(event.code)) {
        return;
    }
    m_running = running;
    const Executor next = executor_of(event, schedule);
    if (m_begun && next == m_now) {
        return;
    }
    if (m_begun && m_since < now) {
        m_past.push_back({m_now, m_since, now});
        if (m_past.size() > kStretchesMax) {
            m_past.pop_front();
        }
    }
    m_since = now;
    m_now = next;
    m_begun = true;
}

std::uint64_t ExecutorHistory::records_within(lib::Ticks begin, lib::Ticks end) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = m_records; i > 0 && m_records - i < m_stamps.size(); --i) {
        const lib::Ticks stamp = m_stamps[(i - 1) % kStampsMax];
        if (stamp <= begin) {
            break;
        }
        count += stamp <= end ? 1U : 0U;
    }
    return count;
}

} // namespace host::schedule
