// SPDX-License-Identifier: MIT
// Implements the life of a task, from its creation to its end, and the primitives that act on it.
#include "kernel/task/task.hpp"

#include "kernel/sched/exception.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/ready_queue.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/ceilings.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/task/task_group.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "kernel/time/phase_shift.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/interrupt.hpp"
#include "kernel/trace/machine.hpp"
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

// Ends all waits of the task, also for a signal.
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

// The primitives that act on tasks follow. Every primitive that takes the running task off the processor has the same
// steps: give up, change the state, schedule.

namespace {

using TaskName = lib::Text<kTaskNameBytes>;

bool is_reaction(Reaction reaction) {
    return reaction <= Reaction::panic;
}

bool valid(const Reactions& reactions) {
    return is_reaction(reactions.deadline_miss) && is_reaction(reactions.wcet) && is_reaction(reactions.activation) &&
           (reactions.fault == Reaction::abort || reactions.fault == Reaction::kill ||
            reactions.fault == Reaction::panic);
}

void prepare_level(const TaskModel& model) {
    for (Level* const level : levels()) {
        if (level->accepts(model)) {
            level->prepare(model);
            return;
        }
    }
}

lib::Result<Level*> find_level(const TaskModel& model, IrqOff off) {
    lib::Error error = lib::Error::unsupported;
    for (Level* const level : levels()) {
        if (!level->accepts(model)) {
            continue;
        }
        const auto guaranteed = level->guarantee(model, off);
        if (guaranteed.ok()) {
            return level;
        }
        error = error == lib::Error::unsupported ? guaranteed.error() : error;
    }
    return error;
}

// Returns the error after the trace has it.
[[gnu::cold]] lib::Error refuse(const TaskOptions& options, lib::Error error) {
    trace_points::task_refused(options.name, error);
    return error;
}

// Sets every member that is not the table's, so that nothing of a former task of the slot remains.
void describe(Task& task, const TaskOptions& options, const TaskName& name, Level& level) {
    task.group = options.group;
    task.immortal = false;
    task.uses_ceilings = false;
    task.ended = nullptr;
    task.job_begun = false;
    task.suspended = false;
    task.out = false;
    task.name = name;
    task.model = options.model;
    task.reactions = options.reactions;
    task.level = &level;
    task.level_index = level.index();
    task.body = options.body;
    task.argument = options.argument;
    task.blocked_on = nullptr;
    task.locking = nullptr;
    task.waiting_on = nullptr;
    task.timed_out = false;
    task.cpu_time = {};
    task.jobs = {};
    task.reaction = {};
    task.upcalls = {};
    task.cpu_alarm_signal = 0;
}

// Calls change(task) for the live task with this pid and, if that succeeds, schedules. not_found: no task has this pid.
template <typename Change>
lib::Result<void> change_task(Pid pid, Change change, SectionPlace place = {}) {
    return primitive(
        [&](IrqOff off) -> lib::Result<void> {
            Task* const task = find_task(pid, off);
            if (task == nullptr) {
                return lib::Error::not_found;
            }
            const lib::Result<void> changed = change(*task, off);
            if (changed.ok()) {
                schedule(off);
            }
            return changed;
        },
        place);
}

// Ends the calling task's job for its level.
void leave_job(Task& self, JobEnd end, IrqOff off) {
    if (end == JobEnd::task_over) {
        end_task(self, off);
    }
    schedule(off);
}

} // namespace

lib::Result<Pid> task_create(const TaskOptions& options) {
    if (options.body == nullptr || !valid(options.reactions)) {
        return lib::Error::invalid_argument;
    }
    prepare_level(options.model);
    const TaskName name(options.name);
    const IrqGuard off;
    for (const Mutex* const mutex : options.mutexes) {
        if (mutex == nullptr || mutex->id() == 0 || !mutex->has_ceiling()) {
            return lib::Error::invalid_argument;
        }
    }
    Task* const task = free_slot(off);
    if (task == nullptr) {
        return refuse(options, lib::Error::no_space);
    }
    const auto level = find_level(options.model, off);
    if (!level.ok()) {
        return refuse(options, level.error());
    }
    take_slot(*task, off);
    describe(*task, options, name, *level.value());
    join_group(*task, off);
    prepare_context(*task, off);
    trace_points::task_created(*task);
    task->level->create(*task, off);
    for (Mutex* const mutex : options.mutexes) {
        ceilings().declare_user(*mutex, *task, off);
    }
    return task->pid;
}

lib::Result<void> task_activate(Pid pid) {
    return task_activate_at(pid, now());
}

lib::Result<void> task_activate_at(Pid pid, lib::Ticks at) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        Task* const task = find_task(pid, off);
        if (task == nullptr) {
            return lib::Error::not_found;
        }
        if (task->level->refuses_activation(*task, off)) {
            return lib::Error::busy;
        }
        trace_points::task_activated(*task);
        const auto activated = task->level->activate(*task, at + release_shift(task->name.view(), off), off);
        schedule(off);
        return activated;
    });
}

Pid task_self() {
    const IrqGuard off;
    return calling_task(off).pid;
}

lib::Ticks task_cpu_time() {
    const IrqGuard off;
    return calling_task(off).cpu_time + (now() - this_processor().dispatched_at);
}

void task_endcycle() {
    primitive([](IrqOff off) {
        Task& self = calling_task(off);
        give_up(off);
        leave_job(self, self.level->end_cycle(self, off), off);
    });
}

void task_sleep() {
    primitive([](IrqOff off) {
        Task& self = calling_task(off);
        trace_points::task_slept(self);
        give_up(off);
        leave_job(self, self.level->sleep(self, off), off);
    });
}

void task_delay(lib::Nanoseconds time) {
    primitive([&](IrqOff off) {
        Task& self = calling_task(off);
        const lib::Ticks until = after(time);
        block_task(self, {.kind = WaitKind::delay}, off);
        delay_task(self, until, off);
        schedule(off);
    });
}

lib::Result<void> task_kill(Pid pid) {
    return change_task(pid, [](Task& task, IrqOff off) -> lib::Result<void> {
        if (task.immortal) {
            return lib::Error::refused;
        }
        end_task(task, off);
        return {};
    });
}

// The position of a suspended task stays where it is, and is parked: it counts for no task, not even for the owner of a
// mutex.
lib::Result<void> task_suspend(Pid pid) {
    return change_task(pid, [](Task& task, IrqOff off) -> lib::Result<void> {
        if (task.immortal) {
            return lib::Error::refused;
        }
        if (task.suspended) {
            return lib::Error::busy;
        }
        leave_processor(task, off);
        task.suspended = true;
        if (task.state == TaskState::ready) {
            park_suspended(task, off);
            task.level->suspended(task, off);
        }
        return {};
    });
}

lib::Result<void> task_resume(Pid pid) {
    return change_task(pid, [](Task& task, IrqOff off) -> lib::Result<void> {
        if (!task.suspended) {
            return lib::Error::refused;
        }
        task.suspended = false;
        if (task.state == TaskState::ready) {
            task.out = false;
            trace_points::task_resumed(task);
        }
        unpark(task, off);
        if (task.state == TaskState::ready) {
            task.level->resumed(task, off);
        }
        return {};
    });
}

lib::Result<void> task_set_reactions(Pid pid, const Reactions& reactions) {
    if (!valid(reactions)) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard off;
    Task* const task = find_task(pid, off);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    task->reactions = reactions;
    return {};
}

void exception_handler_set(ExceptionHandler handler, void* argument) {
    primitive([&](IrqOff off) { set_exception_handler(calling_task(off), handler, argument, off); });
}

lib::Result<void> task_set_deadline(Pid pid, lib::Nanoseconds relative) {
    return change_task(pid, [relative](Task& task, IrqOff off) -> lib::Result<void> {
        const auto set = task.level->set_deadline(task, relative, off);
        if (set.ok()) {
            ceilings().level_changed(task, off);
        }
        return set;
    });
}

lib::Result<TaskInfo> task_info(Pid pid) {
    const IrqGuard off;
    const Task* const task = find_task(pid, off);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    const Processor& cpu = this_processor();
    const lib::Ticks running = task == cpu.exec_shadow ? now() - cpu.dispatched_at : lib::Ticks{};
    return TaskInfo{task->context, task->state, task->suspended, task->cpu_time + running, task->jobs};
}

} // namespace kernel
