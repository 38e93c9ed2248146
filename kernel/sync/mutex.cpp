// SPDX-License-Identifier: MIT
// Implements mutexes. The mutex alone determines whose shadow a waiter has (chain.hpp): the owner's while there is one,
// its own while the mutex is free. So a mutex changes hands in constant time, however many tasks wait for it.
#include "kernel/sync/mutex.hpp"

#include "kernel/sched/chain.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/ready_queue.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/ceilings.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace/schedule.hpp"
#include "kernel/trace/sync.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last_mutex_id = 0;

} // namespace

[[gnu::always_inline]] inline void Mutex::take(Task& task, IrqOff off) {
    ASSERT(m_owner == nullptr && task.blocked_on == nullptr);
    m_owner = &task;
    task.owned.push_back(*this);
    if (has_ceiling()) {
        ceilings().hold(*this, off);
    }
    trace_points::mutex_acquired(task, m_id);
    if (m_waiters != 0 && takes_places()) {
        trace_points::mutex_inherited(task, m_id);
        while (Task* const end = m_stalled.front()) {
            m_stalled.remove(*end);
            unpark(*end, off);
        }
    }
}

bool Mutex::admits(const Task& task) const {
    return m_id != 0 && (!has_ceiling() || m_users.contains(task.pid));
}

// Returns the mutex that keeps the task from taking this one: this one itself, or with ceilings another one. It returns
// null if the task may take it.
Mutex* Mutex::obstacle_to(const Task& task, IrqOff off) {
    if (m_protocol == MutexProtocol::ceiling) {
        Mutex* const highest = ceilings().highest_of_others(task, off);
        if (highest != nullptr && active_preemption_level(task, off) >= highest->m_ceiling) {
            return highest;
        }
    }
    return m_owner != nullptr ? this : nullptr;
}

// Returns whether the owner is this task, or waits for it by mutexes of whatever protocol.
bool Mutex::held_up_by(const Task& task) const {
    const Resource* resource = this;
    for (std::size_t steps = 0; resource != nullptr && resource->owner() != nullptr; ++steps) {
        ASSERT(steps <= kTasksMax);
        if (resource->owner() == &task) {
            return true;
        }
        resource = resource->owner()->blocked_on;
    }
    return false;
}

lib::Result<void> Mutex::refuse(Task& task, IrqOff) {
    trace_points::mutex_deadlock_refused(task, m_id);
    return lib::Error::refused;
}

// Locks the mutex. A task that is woken looks again for what obstructs it: it may be another mutex by now, even one
// that would close a cycle.
lib::Result<void> Mutex::lock(Task& task, lib::Ticks until, IrqOff off) {
    if (!admits(task)) {
        return lib::Error::invalid_argument;
    }
    Mutex* obstacle = obstacle_to(task, off);
    if (m_owner == &task || (obstacle != nullptr && obstacle->held_up_by(task))) {
        return refuse(task, off);
    }
    trace_points::mutex_lock_attempted(task, m_id);
    task.locking = this;
    if (obstacle != nullptr && takes_places()) {
        start_timeout(task, until, off);
    }
    while (obstacle != nullptr) {
        obstacle->wait(task, until, off);
        if (m_owner == &task) {
            return {}; // the mutex was handed over
        }
        if (task.timed_out) {
            return lib::Error::timeout;
        }
        obstacle = obstacle_to(task, off);
        if (obstacle != nullptr && obstacle->held_up_by(task)) {
            leave_waits(task, off);
            return refuse(task, off);
        }
    }
    leave_waits(task, off);
    take(task, off);
    return {};
}

// Waits for an obstacle, and returns when it may be gone.
void Mutex::wait(Task& task, lib::Ticks until, IrqOff off) {
    give_up(off);
    if (task.blocked_on != this) {
        if (task.blocked_on != nullptr) {
            mutex_of(*task.blocked_on).forget_waiter(task, off);
        }
        ++m_contentions;
        ++m_waiters;
        task.blocked_on = this;
    }
    if (!takes_places()) {
        m_queue.enter(task, {.kind = WaitKind::mutex, .id = m_id}, until, off);
        schedule(off);
        return;
    }
    trace_points::mutex_blocked(task, m_id);
    trace_points::mutex_inherited(*m_owner, m_id);
    dispatch_next(off);
    trace_points::inherited(this_processor());
    context_load(off);
}

void Mutex::release(IrqOff off) {
    ASSERT(!lib::kChecked || m_owner != nullptr);
    Task& end = chain_end(*m_owner, off);
    if (has_ceiling()) {
        ceilings().let_go(*this, off);
    }
    m_owner->owned.remove(*this);
    m_owner = nullptr;
    unpark(end, off);
    if (Task* const waiter = m_queue.first()) {
        forget_waiter(*waiter, off);
        take(*waiter, off);
        m_queue.wake(*waiter, off);
    }
}

void Mutex::abandon(IrqOff off) {
    m_abandoned = true;
    trace_points::mutex_owner_died(*m_owner, m_id);
    release(off);
}

void Mutex::forget_waiter(Task& task, IrqOff off) {
    ASSERT(task.blocked_on == this);
    Task& end = chain_end(task, off);
    ASSERT(!lib::kChecked || m_waiters != 0);
    --m_waiters;
    if (is_stalled(task)) {
        m_stalled.remove(task);
    }
    task.blocked_on = nullptr;
    unpark(end, off);
}

lib::Result<void> mutex_init(Mutex& mutex, const MutexOptions& options) {
    const IrqGuard off;
    if (mutex.m_id != 0) {
        return lib::Error::exists;
    }
    if (s_last_mutex_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    mutex.m_id = ++s_last_mutex_id;
    mutex.m_protocol = options.protocol;
    mutex.m_takes_places = options.protocol != MutexProtocol::none;
    if (mutex.has_ceiling()) {
        ceilings().add(mutex, off);
    }
    trace_points::mutex_created(current_task(off), mutex.m_id, options.protocol, options.name);
    return {};
}

lib::Result<void> mutex_declare_user(Mutex& mutex, Pid pid) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        if (mutex.m_id == 0 || !mutex.has_ceiling()) {
            return lib::Error::invalid_argument;
        }
        Task* const task = find_task(pid, off);
        if (task == nullptr) {
            return lib::Error::not_found;
        }
        ceilings().declare_user(mutex, *task, off);
        schedule(off);
        return {};
    });
}

[[gnu::noinline]] lib::Result<void> Mutex::lock(OpenSection section) {
    return primitive([&](IrqOff off) -> lib::Result<void> { return lock(calling_task(off), kForever, off); }, section);
}

lib::Result<void> mutex_lock(Mutex& mutex) {
    return usually(
        [&](IrqOff off) {
            Task& self = calling_task(off);
            if (mutex.m_id == 0 || mutex.has_ceiling() || mutex.m_owner != nullptr) {
                return false;
            }
            trace_points::mutex_lock_attempted(self, mutex.m_id);
            mutex.take(self, off);
            return true;
        },
        [&](OpenSection section) { return mutex.lock(section); });
}

lib::Result<void> mutex_timedlock(Mutex& mutex, lib::Nanoseconds timeout) {
    if (timeout.value == 0) {
        return mutex_trylock(mutex);
    }
    return primitive(
        [&](IrqOff off) -> lib::Result<void> { return mutex.lock(calling_task(off), wait_limit(timeout), off); });
}

lib::Result<void> mutex_trylock(Mutex& mutex) {
    const IrqGuard off;
    Task& self = calling_task(off);
    if (!mutex.admits(self)) {
        return lib::Error::invalid_argument;
    }
    if (mutex.m_owner == &self) {
        return lib::Error::refused;
    }
    if (mutex.obstacle_to(self, off) != nullptr) {
        return lib::Error::busy;
    }
    trace_points::mutex_lock_attempted(self, mutex.m_id);
    mutex.take(self, off);
    return {};
}

[[gnu::noinline]] lib::Result<void> Mutex::unlock(OpenSection section) {
    return primitive(
        [&](IrqOff off) -> lib::Result<void> {
            if (m_id == 0) {
                return lib::Error::invalid_argument;
            }
            const Task& self = calling_task(off);
            if (m_owner != &self) {
                return lib::Error::refused;
            }
            trace_points::mutex_unlocked(self, m_id);
            const bool awaited = m_waiters != 0;
            release(off);
            if (m_protocol == MutexProtocol::stack) {
                dispatch_next(off); // jobs that were stopped may begin
                trace_points::inherited(this_processor());
                context_load(off);
            } else if (awaited) {
                schedule(off);
            }
            return {};
        },
        section);
}

// Unlocks the mutex. The usual case needs no unpark(): no chain of shadows ends in the running task by a mutex for
// which none waits, so nothing is parked at it.
lib::Result<void> mutex_unlock(Mutex& mutex) {
    return usually(
        [&](IrqOff off) {
            Task& self = calling_task(off);
            if (mutex.m_owner != &self || mutex.has_ceiling() || mutex.m_waiters != 0) {
                return false;
            }
            trace_points::mutex_unlocked(self, mutex.m_id);
            self.owned.remove(mutex);
            mutex.m_owner = nullptr;
            return true;
        },
        [&](OpenSection section) { return mutex.unlock(section); });
}

bool mutex_abandoned(const Mutex& mutex) {
    return mutex.m_abandoned;
}

lib::Result<void> mutex_consistent(Mutex& mutex) {
    const IrqGuard off;
    if (mutex.m_id == 0) {
        return lib::Error::invalid_argument;
    }
    if (mutex.m_owner != &calling_task(off)) {
        return lib::Error::refused;
    }
    mutex.m_abandoned = false;
    return {};
}

} // namespace kernel
