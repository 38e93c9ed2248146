// SPDX-License-Identifier: MIT
// The rules about mutexes and jobs.
#include "host/analyse/structure_check.hpp"
#include "host/text/format.hpp"

#include <algorithm>

namespace host::analyse {

using trace::kCodeOf;
using tracer::Family;

// set_mutex_lock is the attempt. On a free mutex the attempt succeeds at once, unless a ceiling forbids it; on a taken
// one the task waits, and who of several waiters gets it next is the protocol's choice. set_mutex_acquire records the
// choice; in a trace without it the owner is known only if a single one is left. Of a mutex that existed before the
// stretch, each task may hold one attempt that was not seen.
void StructureCheck::check_lock(const trace::Event& event) {
    Mutex& mutex = m_mutexes[event.par2];
    if (mutex.attempts.empty() && mutex.created) {
        mutex.owner = event.par1;
    }
    mutex.attempts.push_back(event.par1);
    mutex.see(event.par1);
}

void StructureCheck::check_unlock(const trace::Event& event) {
    Mutex& mutex = m_mutexes[event.par2];
    const bool all_seen = !mutex.see(event.par1) || mutex.created;
    if (strict(Family::mutex) && mutex.owner && *mutex.owner != event.par1) {
        violate(
            Rule::lock_pairs, event, event.par1,
            fmt::format("context {} unlocks mutex {}, which context {} owns", event.par1, event.par2, *mutex.owner));
    } else if (std::ranges::find(mutex.attempts, event.par1) != mutex.attempts.end()) {
        end_attempt(mutex, event.par1);
    } else if (all_seen && strict(Family::mutex)) {
        violate(Rule::lock_pairs, event, event.par1,
                fmt::format("context {} unlocks mutex {} without having locked it", event.par1, event.par2));
    }
}

// A task ends its attempt when it unlocks, gives up or ends. A task that gave up never owned the mutex, even if the
// attempts suggested it.
void StructureCheck::end_attempt(Mutex& mutex, std::uint16_t context) {
    const auto attempt = std::ranges::find(mutex.attempts, context);
    if (attempt != mutex.attempts.end()) {
        mutex.attempts.erase(attempt);
    }
    if (!mutex.owner || *mutex.owner == context) {
        const bool one_left = mutex.created && mutex.attempts.size() == 1;
        mutex.owner = one_left ? std::optional(mutex.attempts.front()) : std::nullopt;
    }
}

void StructureCheck::check_cycle(const trace::Event& event) {
    const std::uint16_t context = event.par1;
    const bool begins = event.code == kCodeOf<"task_begin_cycle">;
    if (begins || event.code == kCodeOf<"task_end_cycle">) {
        // A job that is aborted ends, whether or not it has begun.
        const bool all_seen = strict(Family::task) && (begins || strict(Family::job));
        if (std::exchange(m_in_job[context], begins) == begins && all_seen) {
            violate(Rule::cycle_pairs, event, context,
                    begins ? fmt::format("a job of context {} begins inside another", context)
                           : fmt::format("a job of context {} ends, but none has begun", context));
        }
    } else if (event.code == kCodeOf<"job_abort">) {
        m_in_job[context] = true;
    } else if (event.code == kCodeOf<"task_sleep"> || event.code == kCodeOf<"task_disable">) {
        if (std::optional<bool>& in_job = m_in_job[context]) {
            in_job = false; // a job may end by suspending itself
        }
    } else if (event.code == kCodeOf<"task_create">) {
        forget_task(context);
        m_in_job[context] = false;
    } else if (event.code == kCodeOf<"task_end">) {
        forget_task(context);
    }
}

void StructureCheck::forget_task(std::uint16_t context) {
    m_in_job[context].reset();
    for (auto& [id, mutex] : m_mutexes) {
        std::erase(mutex.attempts, context);
        if (mutex.owner == context) {
            mutex.owner.reset();
            mutex.created = false;
        }
    }
}

} // namespace host::analyse
