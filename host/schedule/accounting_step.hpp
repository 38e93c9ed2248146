// SPDX-License-Identifier: MIT
// What one event does to the accounts of jobs: to be compiled where its code is a constant (host/trace/by_code.hpp).
// What concerns open jobs alone is in accounting.cpp.
#pragma once

#include "host/schedule/accounting.hpp"

namespace host::schedule {

inline Accounting::Open* Accounting::open_of(std::uint32_t context) {
    const std::uint32_t position = context < m_tasks.size() ? m_tasks[context].open : 0;
    return position != 0 ? &m_open[position - 1] : nullptr;
}

// Precondition: a context of an event, which has 16 bits.
inline Accounting::Task& Accounting::task(std::uint32_t context) {
    if (context >= m_tasks.size()) [[unlikely]] {
        add_tasks(context);
    }
    return m_tasks[context];
}

inline void Accounting::switched(const trace::Event& event, const Change& change, const Schedule& schedule) {
    if (Open* const chosen = open_of(change.context)) {
        if (chosen->account.cpu != event.cpu) [[unlikely]] {
            migrate(*chosen, event.cpu);
        }
        ++chosen->account.dispatches;
    }
    if (Open* const left = open_of(change.other); left != nullptr && schedule.state(change.other) == TaskState::ready) {
        ++left->account.preemptions;
    }
}

[[gnu::always_inline]] inline void Accounting::note(const trace::Event& event, std::uint8_t code, const Change& change,
                                                    const Schedule& schedule) {
    if (Open* const open = open_of(change.context)) {
        open->rests = false;
    }
    if (change.kind == Change::Kind::job_began) {
        begin_job(event, static_cast<std::uint16_t>(change.context));
    } else if (change.kind == Change::Kind::switched) {
        switched(event, change, schedule);
    } else if (change.kind == Change::Kind::created) {
        task(change.context).last_end.reset();
    } else if (change.begins_wait()) {
        task(change.context).wait =
            code == trace::kCodeOf<"task_block"> && change.state != TaskState::mutex ? event.par2 : change.object;
    }
}

[[gnu::always_inline]] inline void Accounting::follow(const trace::Event& event, std::uint8_t code,
                                                      std::span<const Change> changes, const Schedule& schedule,
                                                      std::uint32_t khz, const ExecutorHistory& history,
                                                      bool executes_another) {
    m_event = &event;
    // It is said to have the processor, and nothing changes but that.
    if (Open* const open = code == trace::kCodeOf<"task_epilogue"> ? open_of(event.par1) : nullptr) {
        open->rests = false;
    }
    if (kHoldsMutex[code]) {
        note_mutex(event);
    }
    for (const Change& change : changes) {
        if (change.concerns_task()) {
            m_jobs.take(event, change, khz);
            note(event, code, change, schedule);
        } else if (change.kind == Change::Kind::gap) [[unlikely]] {
            m_priorities.forget();
            m_held.clear();
        }
    }
    if (Jobs::kConcerns[code]) {
        m_jobs.note(event, khz);
    }
    if (m_opened != 0 && (executes_another || !changes.empty() || kMayReclassify[code])) {
        reclassify(event, schedule, history);
    }
}

[[gnu::always_inline]] inline void Accounting::take(std::size_t position, std::uint8_t code,
                                                    std::span<const Change> changes, const Schedule& schedule,
                                                    std::uint32_t khz) {
    const trace::Event& event = m_batch[position];
    m_now = event.ticks;
    if (BasePriorities::kConcerns[code]) {
        m_priorities.follow(event);
    }
    const bool executes_another = m_history->take(position, code, schedule.processor(event.cpu));
    follow(event, code, changes, schedule, khz, *m_history, executes_another);
}

} // namespace host::schedule
