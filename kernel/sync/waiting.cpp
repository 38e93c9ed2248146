// SPDX-License-Identifier: MIT
// See waiting.hpp.
#include "kernel/sync/waiting.hpp"

#include "kernel/scheduler.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/wait_queue.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_sync.hpp"

namespace kernel {

namespace {

void give_up_queue(Task& task) {
    task.waiting_on->remove_irq_off(task);
    if (task.blocked_on != nullptr) {
        trace_points::mutex_timed_out(task, *task.locking);
        task.blocked_on->forget_waiter_irq_off(task);
    } else {
        trace_points::wait_timed_out(task);
    }
    unblock_task_irq_off(task);
}

void time_is_up(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    task.timed_out = true;
    if (task.waiting_on != nullptr) {
        give_up_queue(task);
    } else if (task.blocked_on != nullptr) {
        trace_points::mutex_timed_out(task, *task.locking);
        task.blocked_on->forget_waiter_irq_off(task);
    }
    schedule_irq_off();
}

} // namespace

void start_timeout_irq_off(Task& task, lib::Ticks until) {
    task.timed_out = false;
    if (until != kForever) {
        task_timer_post_irq_off(task.pid, TaskTimer::delay, until, &time_is_up);
    }
}

void stop_timeout_irq_off(Task& task) {
    task_timer_delete_irq_off(task.pid, TaskTimer::delay);
}

void leave_waits_irq_off(Task& task) {
    stop_timeout_irq_off(task);
    if (task.blocked_on != nullptr) {
        task.blocked_on->forget_waiter_irq_off(task);
    }
    if (task.waiting_on != nullptr) {
        task.waiting_on->remove_irq_off(task);
    }
}

void release_all_mutexes_irq_off(Task& task) {
    while (Mutex* const mutex = task.owned.front()) {
        mutex->abandon_irq_off();
    }
}

} // namespace kernel
