// SPDX-License-Identifier: MIT
// Declares tasks as an application sees them: they are created in a static pool, activated, and from then on run as
// their model says (kernel/state/task_model.hpp). The policies are in kernel/sched/levels/.
//
//   A periodic task:                                 A task that runs once:
//     void body(void*) {                               void body(void*) {
//         for (;;) {                                       work();
//             work();                                  }   // returning ends the task
//             task_endcycle();
//         }
//     }
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_model.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

class Mutex;
struct Task;
struct TaskLife; // kernel/sched/scheduler.hpp

struct TaskOptions {
    std::string_view name; // copied; cut at kTaskNameBytes
    TaskBody body = nullptr;
    void* argument = nullptr; // of the body
    TaskModel model;
    std::uint16_t group = 0; // 0: none
    Reactions reactions{};
    std::span<Mutex* const> mutexes{}; // mutexes with ceilings that the task will use
};

struct TaskInfo {
    std::uint16_t context = 0; // the number that trace records carry
    TaskState state = TaskState::free;
    bool suspended = false; // in addition to the state, which still changes
    lib::Ticks cpu_time;
    JobCounts jobs;
};

// Creates a task, which sleeps until it is activated. The levels are asked in the order of their registration; the
// first one that accepts the model and guarantees it gets the task.
// invalid_argument: there is no body, the model or a reaction is outside its range, or a mutex has no ceiling.
// unsupported: no level accepts this model.
// refused: admission control cannot guarantee the model beside what is promised already.
// not_found: the server of a ServedModel does not exist.
// no_space: kTasksMax tasks exist.
// Context: any.
[[nodiscard]] lib::Result<Pid> task_create(const TaskOptions& options);

// Releases the task: a HARD one after its offset and then as its model says, any other one at once.
// not_found: no task has this pid.
// busy: the task is active, and its model does not keep or drop the activation (Overlap).
// no_space: kSavedArrivalsMax activations are kept already; this one is dropped and counted.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_activate(Pid pid);

// Releases the task as if task_activate() were called at that time: several tasks that are activated for one time are
// released together. A time that has passed is legal, and the first release then happens at once. Its deadline counts
// from `at`; that of a HARD task counts from now if `at` is more than kActivationLagMax ago, because the task would
// otherwise take time that others were promised.
// not_found: no task has this pid.
// busy: the task is active, and its model does not keep or drop the activation (Overlap).
// no_space: kSavedArrivalsMax activations are kept already; this one is dropped and counted.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_activate_at(Pid pid, lib::Ticks at);

// --- the running task about itself

// Returns the number of the calling task.
// Context: task.
[[nodiscard]] Pid task_self();

// Returns the processor time that the calling task has consumed, including work that it did while it inherited the
// priority of another task.
// Context: task.
[[nodiscard]] lib::Ticks task_cpu_time();

// Ends the job. A periodic task returns at its next release, at once if that has passed; any other one returns when it
// is activated again, and the task of a JobModel ends.
// Context: task.
void task_endcycle();

// Ends the job and all further releases, and drops the activations that are kept. It returns when the task is activated
// again; the task of a JobModel ends.
// Context: task.
void task_sleep();

// Waits for at least this time.
// Context: task.
void task_delay(lib::Nanoseconds time);

// Ends the task. The mutexes that it still owns are freed and marked as abandoned.
// Context: task.
[[noreturn]] void task_exit();

// --- about any task

// Ends a task, whatever its state is. The mutexes that it owns are freed and marked as abandoned. It does not return if
// the task kills itself.
// not_found: no task has this pid.
// refused: it is the idle task, or the task that is shutting the system down.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_kill(Pid pid);

// Keeps a task from the processor until task_resume(), whatever its state is. Nothing else stops: what the task waits
// for may come, its releases and deadlines continue, and it keeps what it owns, so a task that waits for one of its
// mutexes continues to wait. A job that becomes ready meanwhile runs after task_resume(). While a HARD or SOFT job that
// is ready stays suspended, the reservations of tasks that have ended are not given to others. A task that suspends
// itself returns after it was resumed.
// not_found: no task has this pid.
// busy: the task is suspended already.
// refused: it is the idle task, or the task that is shutting the system down.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_suspend(Pid pid);

// Lets a suspended task run again.
// not_found: no task has this pid.
// refused: the task is not suspended.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_resume(Pid pid);

// Sets the reactions to the task's exceptions from now on.
// not_found: no task has this pid.
// invalid_argument: a reaction does not exist, or the one to a fault is not `abort`, `kill` or `panic`.
// Context: any.
lib::Result<void> task_set_reactions(Pid pid, const Reactions& reactions);

// Sets the calling task's handler of all exceptions with Reaction::handler, including those that are pending already.
// Null removes the handler. An abort of the job leaves it in force.
// Context: task.
void exception_handler_set(ExceptionHandler handler, void* argument);

// Gives a HARD task another relative deadline, from its worst-case execution time up to its period; 0 means the period.
// A shorter deadline holds from the next release on, because the job in progress was not promised to be complete
// sooner; a longer one holds for the job in progress, too. The time that a longer deadline leaves is available to other
// tasks only after the next release. An error changes nothing.
// not_found: no task has this pid.
// unsupported: it is not a HARD task.
// invalid_argument: the deadline is outside its range.
// refused: the deadline cannot be guaranteed beside what is promised to the other tasks.
// busy: releases of the task are pending.
// Context: any. It is a scheduling point in task context.
lib::Result<void> task_set_deadline(Pid pid, lib::Nanoseconds relative);

// Returns what the kernel knows of a task at this moment.
// not_found: no task has this pid.
// Context: any.
[[nodiscard]] lib::Result<TaskInfo> task_info(Pid pid);

// --- for the kernel: the end of a task and of its job. Nothing here switches contexts: the caller schedules.

void end_task(Task& task, IrqOff);

// Ends the job in progress, if there is one, where it is: waits are given up, mutexes are freed, and the task's next
// job starts at its entry. It must not be called from within a level's function.
void abort_job(Task& task, TaskException cause, IrqOff);

// Is what run() passes to set_task_life().
extern const TaskLife kTaskLife;

} // namespace kernel
