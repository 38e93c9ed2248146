// SPDX-License-Identifier: MIT
// Watches the time at which the running position has used up what it may use: a server's budget, a slice, a worst-case
// execution time. One position is in use at a time, so there is one such end for each processor, beside the timer
// queue. Every dispatch sets it and every epilogue removes it, which in the queue would cost two changes of a heap each
// time. At equal times the queue's events come first.
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/schedule.hpp"
#include "lib/units.hpp"

namespace kernel {

struct BudgetEnd {
    lib::Ticks at = kNever;
    Task* task = nullptr; // whose position it is; null: nothing is watched
    void (*handler)(Task& task, IrqOff) = nullptr;
};

namespace detail {

inline constinit BudgetEnd budget_end; // of the only processor

// Returns the index that the trace shows, after those of the queue's timers.
[[nodiscard]] inline std::uint16_t budget_end_index(const Task& task) {
    return static_cast<std::uint16_t>(kTimersMax + task.pid.value);
}

} // namespace detail

// Neither function arms the machine's timer: the decision of the scheduler that follows does, or the caller by
// timer_changed().

// Removes the task's end of budget; it does nothing if another task's is posted.
inline void budget_end_delete(const Task& task, IrqOff) {
    if (detail::budget_end.task == &task) {
        trace_points::timer_deleted(detail::budget_end_index(task));
        detail::budget_end.at = kNever;
        detail::budget_end.task = nullptr;
    }
}

// Posts the end of a budget, and replaces what was posted for this task. Precondition: none is posted for another task.
inline void budget_end_post(Task& task, lib::Ticks at, void (*handler)(Task& task, IrqOff), IrqOff off) {
    budget_end_delete(task, off);
    ASSERT(!lib::kChecked || detail::budget_end.task == nullptr);
    trace_points::timer_posted(detail::budget_end_index(task));
    detail::budget_end = {at, &task, handler};
}

} // namespace kernel
