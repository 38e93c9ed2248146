// SPDX-License-Identifier: MIT
// Tasks as an application sees them: created in a static pool, activated, and from then on run as their model says. The
// object of a Pid is kernel/state/task_object.hpp; policies are kernel/sched/levels/.
//
// A periodic task:                                   A task that runs once:
//   void body(void*) {                                 void body(void*) {
//       for (;;) {                                         work();
//           work();                                    }   // returning ends the task
//           task_endcycle();
//       }
//   }
#pragma once

#include "kernel/state/reaction.hpp"
#include "kernel/state/task_model.hpp"
#include "kernel/state/task_types.hpp"
#include "kernel/state/upcalls.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

class Mutex;

struct TaskOptions {
    std::string_view name; // copied; cut at kTaskNameBytes
    TaskBody body = nullptr;
    void* argument = nullptr;
    TaskModel model;
    std::uint16_t group = 0; // 0: none
    Reactions reactions{};
    std::span<Mutex* const> mutexes{}; // with ceilings, of which it becomes a user (kernel/sync/mutex.hpp)
};

struct TaskInfo {
    std::uint16_t context = 0; // the number that trace records carry
    TaskState state = TaskState::free;
    bool suspended = false; // in addition to the state, which still changes
    lib::Ticks cpu_time;
    JobCounts jobs;
};

// The levels are asked in registration order; the first that accepts the model and guarantees it gets the task.
// invalid_argument: no body, a model outside its ranges, or a mutex without a ceiling. unsupported: no level takes this
// model. refused: admission control says no. no_space: kTasksMax tasks exist. Reactions as for task_set_reactions().
// Context: any.
[[nodiscard]] lib::Result<Pid> task_create(const TaskOptions& options);

// Releases the task: HARD from now + offset on, periodically; others at once. not_found: no such task. busy: it is
// active. Context: any. A scheduling point in task context.
lib::Result<void> task_activate(Pid pid);

// As task_activate, but as if called at that time: several tasks activated for one time are released together.
// A time that has passed is legal: the first release then happens at once. Its deadline counts from `at`, but for a
// HARD task from now if `at` is more than kActivationLagMax ago: more would take time that others were promised.
lib::Result<void> task_activate_at(Pid pid, lib::Ticks at);

// --- the running task about itself; task context only -------------------------------------------------------------

[[nodiscard]] Pid task_self();

// Processor time consumed so far, including work done while another task's priority was inherited.
[[nodiscard]] lib::Ticks task_cpu_time();

// Ends the job. HARD: returns at the next release, at once if that has passed. Others: returns when activated again.
void task_endcycle();

// Ends the job and further releases: returns when activated again.
void task_sleep();

// Waits at least so long.
void task_delay(lib::Nanoseconds time);

// Ends the task; mutexes it still owns are freed, and abandoned (kernel/sync/mutex.hpp).
[[noreturn]] void task_exit();

// --- about any task ------------------------------------------------------------------------------------------------

// Ends a task in whatever state it is; mutexes it owns are freed, and abandoned. not_found: no such task. refused: the
// idle task, or the task that is shutting the system down. Does not return if the task kills itself. Context: any.
lib::Result<void> task_kill(Pid pid);

// Keeps a task from the processor until task_resume(), whatever its state. Nothing else stops: what it waits for may
// come, its releases and deadlines continue, and it keeps what it owns: a waiter for a mutex of a suspended owner waits
// on. A job that becomes ready meanwhile, by an activation too, runs after task_resume(). While a HARD or SOFT job that
// is ready stays suspended, what ended tasks had reserved is not given to others. Returns after that if the task
// suspends itself. not_found: no such task. busy: it is suspended. refused: as for task_kill(). Context: any. A
// scheduling point in task context.
lib::Result<void> task_suspend(Pid pid);

// not_found: no such task. refused: it is not suspended. Context: any. A scheduling point in task context.
lib::Result<void> task_resume(Pid pid);

// What follows the exceptions of this task from now on (reaction.hpp). not_found: no such task. invalid_argument: a
// reaction that does not exist, or one to a fault other than abort, kill and panic. Context: any.
lib::Result<void> task_set_reactions(Pid pid, const Reactions& reactions);

// The handler of the calling task, for all exceptions with Reaction::handler, those that came before this call too;
// null takes it away. An abort leaves it in force. Context: task.
void exception_handler_set(ExceptionHandler handler, void* argument);

// Gives a HARD task another relative deadline: its worst-case execution time at least, its period at most; 0 means
// the period. A shorter one holds from the next release on, for the job in progress was not promised to be over sooner;
// a longer one holds for the job in progress, too. Time that a longer deadline leaves is admitted to other tasks after
// the next release only. not_found: no such task. unsupported: not a HARD task. invalid_argument: out of range.
// refused: cannot be guaranteed beside the tasks there are. busy: releases are pending. Nothing is changed then.
// Context: any. A scheduling point in task context.
lib::Result<void> task_set_deadline(Pid pid, lib::Nanoseconds relative);

// not_found: no such task. Context: any.
[[nodiscard]] lib::Result<TaskInfo> task_info(Pid pid);

} // namespace kernel
