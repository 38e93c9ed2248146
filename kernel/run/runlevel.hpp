// SPDX-License-Identifier: MIT
// Declares run levels, and the functions that run when a level is reached, as S.Ha.R.K. has published them:
//
//   startup 0 -> init 1 -> running 2 -> shutdown 3 -> before_exit 4 -> after_exit 5
//
// The functions of `init` run first in, first out; those of all other levels run last in, first out, so that what was
// set up last is torn down first. A function may register further functions, also for the level that is being run.
#pragma once

#include "lib/result.hpp"

#include <cstdint>

namespace kernel {

enum class RunLevel : std::uint8_t {
    startup = 0,
    init = 1,        // boot context, interrupts off, before the first task runs
    running = 2,     // the application runs
    shutdown = 3,    // task context; every task still lives
    before_exit = 4, // task context; the other tasks are gone
    after_exit = 5,  // boot context, interrupts off; also after a panic
};

// Has the published flag NO_AT_ABORT (8): a function with `skip` does not run when the system aborts.
enum class AtAbort : std::uint8_t {
    run = 0,
    skip = 8,
};

using RunLevelFunction = void (*)(void* argument);

// Registers a function: function(argument) is called once when the level `when` is reached.
// invalid_argument: the function is null, or no functions run at this level (startup, running).
// refused: the level is completed already, so that the function would never run.
// no_space: 40 functions are registered (the published ETOOMUCH_EXITFUNC); those of completed levels count, too.
// Context: any.
lib::Result<void> sys_atrunlevel(RunLevelFunction function, void* argument, RunLevel when,
                                 AtAbort at_abort = AtAbort::run);

// Returns the level that was reached last.
// Context: any.
[[nodiscard]] RunLevel run_level();

// Returns whether the system aborts: sys_abort() was called, or there was a panic.
// Context: any.
[[nodiscard]] bool aborted();

// --- for the kernel

// Enters the level and runs its functions. kernel::run() calls it for all levels but after_exit, which the composition
// root runs last. Context: that of the level.
void run_level_functions(RunLevel level);

// From now on functions that were registered with AtAbort::skip do not run. sys_abort() and a panic call it. Context:
// any.
void mark_aborted();

} // namespace kernel
