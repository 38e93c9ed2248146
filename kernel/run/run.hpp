// SPDX-License-Identifier: MIT
// One run of the system, from the run level init to the moment when nothing but the boot context is left.
//
//   boot context                 task context
//   run(): init functions
//          main task, dispatch --> application ... sys_end(result)
//                                  shutdown functions (all tasks live)
//                                  the other tasks are killed
//                                  before_exit functions
//   run() returns  <-------------  the last task leaves
//   (composition root: after_exit functions)
#pragma once

#include "kernel/run/app.hpp"
#include "kernel/sched/levels/background.hpp"
#include "lib/result.hpp"

namespace kernel {

struct RunOutcome {
    int result = 0; // of the application; 0 means that all went well
    bool aborted = false;
};

// Runs the application. If its main task ends before start() returns, the run ends as by sys_abort(1), and the console
// says so. `background` must be among the registered levels; it gets the idle task.
// Errors: those of task_create() and task_activate() for the idle task and the main task. Context: boot, irq-off, once.
[[nodiscard]] lib::Result<RunOutcome> run(const App& app, const AppArguments& arguments, BackgroundLevel& background);

// Ends the system in an orderly way; the first caller decides the result, a later one just ends. Called by a SHUTDOWN
// or BEFORE_EXIT function it ends that function: the end is under way and continues with the next one. Context: task; a
// panic elsewhere, so in INIT and AFTER_EXIT functions.
[[noreturn]] void sys_end(int result);

// As sys_end, but run-level functions registered with AtAbort::skip are passed over from here on; the end becomes an
// abort if it was none. Context: task.
[[noreturn]] void sys_abort(int result);

} // namespace kernel
