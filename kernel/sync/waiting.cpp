// SPDX-License-Identifier: MIT
// Implements the limits of waits, and the ends of waits that get nothing.
#include "kernel/sync/waiting.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/sync.hpp"

namespace kernel {

namespace {

void give_up_queue(Task& task, IrqOff off) {
    task.waiting_on->remove(task, off);
    if (task.blocked_on != nullptr) {
        trace_points::mutex_timed_out(task, mutex_of(*task.locking).id());
        mutex_of(*task.blocked_on).forget_waiter(task, off);
    } else {
        trace_points::wait_timed_out(task);
    }
    unblock_task(task, off);
}

void time_is_up(Task& task, IrqOff off) {
    task.timed_out = true;
    if (task.waiting_on != nullptr) {
        give_up_queue(task, off);
    } else if (task.blocked_on != nullptr) {
        trace_points::mutex_timed_out(task, mutex_of(*task.locking).id());
        mutex_of(*task.blocked_on).forget_waiter(task, off);
    }
    schedule(off);
}

} // namespace

void start_timeout(Task& task, lib::Ticks until, IrqOff off) {
    task.timed_out = false;
    task.wait_limited = until != kForever;
    if (task.wait_limited) {
        task_timer_post<&time_is_up>(task, TaskTimer::delay, until, off);
    }
}

void stop_timeout(Task& task, IrqOff off) {
    task_timer_delete(task.pid, TaskTimer::delay, off);
}

void leave_waits(Task& task, IrqOff off) {
    stop_timeout(task, off);
    if (task.blocked_on != nullptr) {
        mutex_of(*task.blocked_on).forget_waiter(task, off);
    }
    if (task.waiting_on != nullptr) {
        task.waiting_on->remove(task, off);
    }
}

void release_all_mutexes(Task& task, IrqOff off) {
    while (Resource* const resource = task.owned.front()) {
        mutex_of(*resource).abandon(off);
    }
}

} // namespace kernel
