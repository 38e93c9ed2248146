// SPDX-License-Identifier: MIT
// Run levels and the functions that run when one is reached, as published by S.Ha.R.K.:
//
//   startup 0 -> init 1 -> running 2 -> shutdown 3 -> before_exit 4 -> after_exit 5
//
// Functions of `init` run first-in first-out, all others last-in first-out, so that what was set up last is torn down
// first. A function may register further functions, also for the level that is just being run.
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

// The published flag NO_AT_ABORT (8): not run when the system aborts.
enum class AtAbort : std::uint8_t {
    run = 0,
    skip = 8,
};

using RunLevelFunction = void (*)(void* argument);

// Has function(argument) called once when `when` is reached. Context: any.
// invalid_argument: function is null, or nothing is ever run at `when` (startup, running).
// refused: that level has already been completed, the function would never run.
// no_space: 40 functions are registered (the published ETOOMUCH_EXITFUNC); the entries of completed levels count too.
lib::Result<void> sys_atrunlevel(RunLevelFunction function, void* argument, RunLevel when,
                                 AtAbort at_abort = AtAbort::run);

[[nodiscard]] RunLevel run_level();

// Enters the level and runs its functions. Called by kernel::run() for all levels but after_exit, which the composition
// root runs last. Context: as the level says.
void run_level_functions(RunLevel level);

// From here on functions registered with AtAbort::skip are passed over. Called by sys_abort() and on a panic.
// Context: any.
void mark_aborted();

[[nodiscard]] bool aborted();

} // namespace kernel
