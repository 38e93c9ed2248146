// SPDX-License-Identifier: MIT
// Implements the slices of round robin: the end of a budget is the end of a slice here.
#include "kernel/sched/levels/queue_level.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/time/budget_end.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

lib::Result<void> RoundRobinLevel::guarantee(const TaskModel& model, IrqOff) {
    const auto& nrt = model_as<NrtModel>(model);
    return nrt.slice.value != 0 && nrt.weight != 0 ? lib::Result<void>{} : lib::Error::invalid_argument;
}

void RoundRobinLevel::create(Task& task, IrqOff off) {
    const auto& nrt = model_as<NrtModel>(task.model);
    const lib::Ticks slice = nrt.policy == NrtPolicy::fifo ? lib::Ticks{} : to_ticks_up(nrt.slice);
    m_shares[task.pid.value] = {.slice = slice, .left = slice, .begun_at = {}};
    QueueLevel::create(task, off);
}

void RoundRobinLevel::job_starts(Task& task) {
    Share& share = m_shares[task.pid.value];
    share.left = share.slice;
}

void RoundRobinLevel::end(Task& task, IrqOff off) {
    budget_end_delete(task, off);
    QueueLevel::end(task, off);
}

void RoundRobinLevel::slot_begin(Task& task, IrqOff off) {
    Share& share = m_shares[task.pid.value];
    if (share.slice == lib::Ticks{}) {
        return;
    }
    share.begun_at = now();
    budget_end_post(task, share.begun_at + share.left, &RoundRobinLevel::slice_over, off);
}

void RoundRobinLevel::slot_end(Task& task, lib::Ticks elapsed, IrqOff off) {
    static_cast<void>(elapsed); // a slot may span several slices; begun_at is then later than the dispatch
    budget_end_delete(task, off);
    Share& share = m_shares[task.pid.value];
    if (share.slice == lib::Ticks{}) {
        return;
    }
    const lib::Ticks used = now() - share.begun_at;
    if (used < share.left) {
        share.left = share.left - used;
    } else {
        rotate(task, off);
    }
}

void RoundRobinLevel::rotate(Task& task, IrqOff off) {
    Share& share = m_shares[task.pid.value];
    share.left = share.slice;
    trace_points::slice_ended(task);
    move_to_end(task, off);
}

// Ends the slice. The slot continues until the scheduler takes it away; a task that is alone starts its next slice.
void RoundRobinLevel::slice_over(Task& task, IrqOff off) {
    auto& level = static_cast<RoundRobinLevel&>(*task.level);
    level.rotate(task, off);
    level.slot_begin(task, off);
    schedule(off);
}

} // namespace kernel
