// SPDX-License-Identifier: MIT
// See life.hpp.
#include "kernel/task/life.hpp"

#include "kernel/sched/exception.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/ceilings.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/task/task.hpp"
#include "kernel/task/task_group.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/interrupt.hpp"
#include "kernel/trace/step.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

void task_entry(void* argument) {
    const Task& self = *static_cast<Task*>(argument);
    trace_points::context_begins(self, &clock_untraced, IrqOff::from_entry());
    trace_points::interrupts_enabled();
    section_ends();
    arch::irq_enable();
    deliver_upcalls();
    self.body(self.argument);
    task_exit();
}

// The task waits for nothing any more, not even for a signal.
void forget_waits(Task& task, IrqOff off) {
    leave_waits(task, off);
    task.upcalls.awaited = 0;
}

} // namespace

constinit const TaskLife kTaskLife{.entry = &task_entry, .end = &end_task, .abort = &abort_job};

void task_exit() {
    static_cast<void>(arch::irq_save());
    const IrqOff off = IrqOff::from_save();
    section_begins();
    end_task(calling_task(off), off);
    schedule(off);
    ASSERT(!"a task that has ended was resumed");
    __builtin_unreachable();
}

void end_task(Task& task, IrqOff off) {
    ASSERT(!lib::kChecked || task.state != TaskState::free);
    leave_processor(task, off);
    forget_waits(task, off);
    release_all_mutexes(task, off);
    ceilings().forget_user(task, off);
    leave_group(task, off);
    trace_points::task_ended(task);
    forget_reaction(task, off);
    task_timer_delete(task.pid, TaskTimer::cpu_alarm, off);
    task.level->end(task, off);
    ASSERT(!lib::kChecked || (task.ready_in == nullptr && task.owned.empty() && task.waiting_on == nullptr));
    task.state = TaskState::free;
    give_slot_back(task, off);
    if (task.ended != nullptr) {
        task.ended(off);
    }
}

void abort_job(Task& task, TaskException cause, IrqOff off) {
    leave_processor(task, off);
    if (!task.in_job()) {
        return; // giving up may have been the end of its job
    }
    ++task.jobs.aborted;
    trace_points::job_aborted(task, cause);
    forget_waits(task, off);
    release_all_mutexes(task, off);
    if (task.state != TaskState::ready) {
        task.level->unblock(task, off); // a level ends jobs that are ready
    }
    task.out = false;
    task.restart = true;
    task.upcalls.active = 0;
    if (task.level->end_cycle(task, off) == JobEnd::task_over) {
        end_task(task, off);
    }
}

} // namespace kernel
