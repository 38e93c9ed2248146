// SPDX-License-Identifier: MIT
// A signal is a small number that a task, or an interrupt, sends to a task. The task takes it by a handler, which runs
// in its own context with interrupts on, or by waiting for it. A signal that is raised again before it is taken is
// taken only once.
//
//   raise --> pending --+--> handler: as soon as the task is about to return to its own code: at the end of a
//                       |             primitive, at the end of an interrupt, at its entry; the lowest number first
//                       |             (kernel/sched/upcalls.hpp)
//                       +--> signal_wait(): at once
//
// A handler is interrupted by other signals, but not by its own; the code that it interrupted continues when it
// returns. A task that waits in a primitive is not woken: it takes its signals when it runs next. An abort of the job
// abandons running handlers, too; pending signals and settings stay.
//
// A handler needs interrupts on, so a primitive that is called within an IrqGuard of the caller calls no handler. The
// caller closes its section and calls return_to_task(); otherwise the handlers wait for the task's next primitive or
// interrupt.
#pragma once

#include "kernel/state/task_model.hpp"
#include "kernel/task/task.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace kernel {

// Bit n of a set is signal n; bit 0 is unused.
using SignalSet = std::uint32_t;

// Returns the set of this one signal.
// signo: 1 to 31.
// Context: any.
[[nodiscard]] constexpr SignalSet signal_bit(std::uint8_t signo) {
    return SignalSet{1} << signo;
}

// Sets the calling task's handler of a signal, which may be pending already. Null removes the handler.
// signo: 1 to 31.
// invalid_argument: the signal is outside its range.
// Context: task.
lib::Result<void> signal_handler_set(std::uint8_t signo, SignalHandler handler, void* argument);

// Sets the signals whose handlers are not called for the calling task from now on, and returns the former set. The task
// can still wait for these signals.
// Context: task.
SignalSet signal_mask(SignalSet set);

// Sends a signal to a task.
// signo: 1 to 31.
// invalid_argument: the signal is outside its range.
// not_found: no task has this pid.
// Context: any. It is a scheduling point in task context.
lib::Result<void> signal_raise(Pid pid, std::uint8_t signo);

// Returns the signals that are pending for a task.
// not_found: no task has this pid.
// Context: any.
[[nodiscard]] lib::Result<SignalSet> signal_pending(Pid pid);

// Takes the lowest pending signal of the set, and waits for one if none is pending. Its handler is not called for it.
// invalid_argument: the set holds no signal.
// Context: task.
[[nodiscard]] lib::Result<std::uint8_t> signal_wait(SignalSet set);

// Takes the lowest pending signal of the set like signal_wait(), but waits no longer than `timeout`; 0 does not wait.
// invalid_argument: the set holds no signal.
// timeout: no signal of the set came in time.
// Context: task.
[[nodiscard]] lib::Result<std::uint8_t> signal_timedwait(SignalSet set, lib::Nanoseconds timeout);

} // namespace kernel
