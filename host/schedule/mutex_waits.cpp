// SPDX-License-Identifier: MIT
// See mutex_waits.hpp.
#include "host/schedule/mutex_waits.hpp"

#include <algorithm>

namespace host::schedule {

using trace::kCodeOf;

void MutexWaits::note_wait(const trace::Event& event, const Change& change) {
    task(change.context).wait =
        event.code == kCodeOf<"task_block"> && change.state != TaskState::mutex ? event.par2 : change.object;
}

void MutexWaits::follow(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
    if (event.code == kCodeOf<"trace_start">) {
        m_lost = m_lost && event.par1 != 0;
        return;
    }
    Task& task = this->task(event.par1);
    if (event.code == kCodeOf<"set_mutex_acquire">) {
        m_held[event.par2] = {event.par1, ++m_acquisitions};
    } else if (event.code == kCodeOf<"task_schedule">) {
        task.was_wanted = false;
    } else if (event.code == kCodeOf<"task_epilogue">) {
        task.released = 0;
        task.was_wanted = false;
    } else {
        m_held[event.par2] = {kUnknownContext, kFree};
        task.released = event.par2;
        task.was_wanted = has_waited_for(schedule.processor(event.cpu).place, event.par2, changes, schedule);
    }
}

void MutexWaits::forget() {
    m_held.clear();
    m_lost = true;
    std::ranges::for_each(m_tasks, [](Task& one) { one.released = 0, one.was_wanted = false; });
}

std::optional<std::uint32_t> MutexWaits::blocked_by(std::uint32_t context, const Schedule& schedule) const {
    if (schedule.state(context) != TaskState::mutex) {
        return std::nullopt;
    }
    const std::uint32_t mutex = wait_of(context);
    const auto found = m_held.find(mutex);
    return found == m_held.end() || found->second.order != kFree ? std::optional(mutex) : std::nullopt;
}

std::optional<std::uint32_t> MutexWaits::link_to(std::uint32_t who, std::uint32_t context,
                                                 const Schedule& schedule) const {
    std::uint32_t link = context;
    for (std::uint32_t i = 0; i < kChainMax; ++i) {
        const auto mutex = blocked_by(link, schedule);
        link = mutex ? schedule.holder(*mutex) : kUnknownContext;
        if (!mutex || link == who || link == kUnknownContext) {
            return mutex;
        }
    }
    return std::nullopt;
}

std::uint32_t MutexWaits::mutex_of(std::uint32_t context) const {
    const Task& runs = context < m_tasks.size() ? m_tasks[context] : Task{};
    std::uint32_t mutex = runs.was_wanted || !m_lost ? runs.released : 0; // else it may hold what a loss has hidden
    std::uint64_t latest = runs.was_wanted ? ~std::uint64_t{0} : 0;
    for (const auto& [id, held] : m_held) {
        if (held.context == context && held.order > latest) {
            mutex = id;
            latest = held.order;
        }
    }
    return mutex;
}

// Says whether the task waited until this unlock for the mutex, directly or through a chain of holders.
bool MutexWaits::has_waited_for(std::uint32_t context, std::uint32_t mutex, std::span<const Change> changes,
                                const Schedule& schedule) const {
    std::uint32_t link = context;
    for (std::uint32_t i = 0; i < kChainMax && link != kUnknownContext; ++i) {
        const bool is_woken = std::ranges::any_of(
            changes, [&](const Change& change) { return change.context == link && change.before == TaskState::mutex; });
        if ((is_woken || schedule.state(link) == TaskState::mutex) && wait_of(link) == mutex) {
            return true;
        }
        const auto next = blocked_by(link, schedule);
        link = next ? schedule.holder(*next) : kUnknownContext;
    }
    return false;
}

MutexWaits::Task& MutexWaits::task(std::uint32_t context) {
    if (context >= m_tasks.size()) {
        m_tasks.resize(std::size_t{context} + 1);
    }
    return m_tasks[context];
}

} // namespace host::schedule
