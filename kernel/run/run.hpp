// SPDX-License-Identifier: MIT
// Executes one run of the system, from the run level init to the moment when only the boot context is left.
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
#include "kernel/sched/levels/queue_level.hpp"
#include "lib/result.hpp"

namespace kernel {

struct RunOutcome {
    int result = 0; // of the application; 0 means that all went well
    bool aborted = false;
};

// --- for the kernel

// Runs the application. If its main task ends before start() returns, the run ends as by sys_abort(1), and the console
// reports it. `background` must be among the registered levels; it gets the idle task. The errors are those of
// task_create() and task_activate() for the idle task and the main task. Context: boot, irq-off, once.
[[nodiscard]] lib::Result<RunOutcome> run(const App& app, const AppArguments& arguments, BackgroundLevel& background);

// Ends the run after this time as by sys_end(0), unless it has ended by then: the main task may wait forever. Must be
// called once, by an INIT function or later.
void limit_run(lib::Nanoseconds limit, IrqOff);

// --- primitives

// Ends the run in an orderly way. The first caller decides the result; a later caller only ends its task. If a SHUTDOWN
// or BEFORE_EXIT function calls it, only that function ends, and the next one follows.
// result: of the run; 0 means that all went well.
// Context: task. A call from another context, such as an INIT or AFTER_EXIT function, is a panic.
[[noreturn]] void sys_end(int result);

// Ends the run like sys_end(), but as an abort: run-level functions that were registered with AtAbort::skip do not run
// from now on. An end that has begun becomes an abort.
// result: of the run; 0 means that all went well.
// Context: task. A call from another context is a panic.
[[noreturn]] void sys_abort(int result);

} // namespace kernel
