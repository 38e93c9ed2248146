// SPDX-License-Identifier: MIT
// Signals: small numbers that one task, or an interrupt, sends to a task. A task takes them by handlers, which run in
// its own context with interrupts on, or by waiting for them. A signal that is raised again before it is taken stays
// one.
//
//   raise --> pending --+--> handler: as soon as the task is about to return to its own code: at the end of a
//                       |             primitive, at the end of an interrupt, at its entry; the lowest number first
//                       |             (kernel/sched/upcalls.hpp)
//                       +--> signal_wait(): at once
//
// A handler is not interrupted by its own signal, only by others; what it interrupted continues when it returns. A task
// that waits in a primitive is not woken: it takes its signals when it runs next. An abort of the job abandons
// handlers, too; pending signals and settings stay.
//
// A handler needs interrupts on, so primitives that are called within an IrqGuard of the caller call none. The caller
// closes its section and calls return_to_task(); otherwise the handlers wait for the task's next primitive or
// interrupt.
#pragma once

#include "kernel/state/upcalls.hpp"
#include "kernel/task/task.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace kernel {

// Bit n is signal n; bit 0 is unused.
using SignalSet = std::uint32_t;

[[nodiscard]] constexpr SignalSet signal_bit(std::uint8_t signo) {
    return SignalSet{1} << signo;
}

// Of the calling task, also for a signal that is pending already; null takes the handler away. invalid_argument: no
// signal 1..31. Context: task.
lib::Result<void> signal_handler_set(std::uint8_t signo, SignalHandler handler, void* argument);

// The signals whose handlers are not called for the calling task from now on; returns the former set. They can still be
// waited for. Context: task.
SignalSet signal_mask(SignalSet set);

// invalid_argument: no signal 1..31. not_found: no such task. Context: any. A scheduling point in task context.
lib::Result<void> signal_raise(Pid pid, std::uint8_t signo);

// The signals that are pending for this task. not_found: no such task. Context: any.
[[nodiscard]] lib::Result<SignalSet> signal_pending(Pid pid);

// Takes the lowest pending signal of the set, waiting for one if need be; its handler is not called for it.
// invalid_argument: the set holds no signal. Context: task.
[[nodiscard]] lib::Result<std::uint8_t> signal_wait(SignalSet set);

// As signal_wait; timeout: none came within that time. With 0 it does not wait. Context: task.
[[nodiscard]] lib::Result<std::uint8_t> signal_timedwait(SignalSet set, lib::Nanoseconds timeout);

} // namespace kernel
