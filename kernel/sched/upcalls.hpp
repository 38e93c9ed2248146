// SPDX-License-Identifier: MIT
// At the return-to-task point a task that is about to return to its own code takes its exceptions and signals (Upcalls
// in kernel/state/task_object.hpp). There are three such points, and nothing else calls a handler:
//
//   the end of a primitive        primitive(), below: every primitive in which the scheduler may run, or that may raise
//                                 a signal or an exception for its caller
//   the end of an interrupt       return_from_interrupt()
//   the entry of a task           kernel/task/task.cpp
//
// A section with interrupts off (IrqGuard) calls no handler at its end. Code that calls primitives inside a section of
// its own has no return-to-task point in them, because a handler needs interrupts on; it calls return_to_task()
// afterwards.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/processor.hpp"
#include "lib/result.hpp"

#include <type_traits>

namespace kernel {

// --- for the kernel

// Marks the signal as pending for the task, and wakes it if it waits for this one. The caller schedules. Precondition:
// 1 <= signo <= 31.
void raise_signal(Task& task, std::uint8_t signo, IrqOff);

// Takes the lowest pending signal among these bits. Precondition: there is one.
[[nodiscard]] std::uint8_t take_signal(Task& task, std::uint64_t bits, IrqOff);

// Set a handler of the task; null removes it.
void set_exception_handler(Task& task, ExceptionHandler handler, void* argument, IrqOff);
void set_signal_handler(Task& task, std::uint8_t signo, SignalHandler handler, void* argument, IrqOff);

// Returns whether a handler of the running task is due. Context: any.
[[nodiscard]] inline bool upcalls_due() {
    const Task* const self = this_processor().loaded;
    return self != nullptr && self->upcalls.pending != 0 && self->upcalls.due() != 0;
}

// Calls the handlers that are due for the loaded task, with interrupts on. It does nothing with interrupts off.
// Context: any but NMI.
void deliver_upcalls();

// --- primitives

// Calls the handlers that are due for the calling task. A task calls it after a section with interrupts off in which it
// called primitives. It does nothing while interrupts are off.
// Context: any but NMI.
[[gnu::always_inline]] inline void return_to_task() {
    if (upcalls_due()) {
        deliver_upcalls();
    }
}

// --- for the kernel

namespace detail {

// Is separate from primitive(), so that a result needs no register over a call that is rarely made.
template <typename Result>
[[gnu::noinline, gnu::cold]] Result after_upcalls(Result result) {
    deliver_upcalls();
    return result;
}

void leave_interrupt(IrqOff);

} // namespace detail

// Must be the last call in every interrupt, after the end of interrupt was signalled. It preempts the task if
// necessary, and then calls the handlers of the task that the interrupt returns to. It does not return if the job that
// was interrupted is aborted.
[[gnu::always_inline]] inline void return_from_interrupt(IrqOff off) {
    if (this_processor().reschedule || upcalls_due()) {
        detail::leave_interrupt(off);
    } else {
        this_processor().in_interrupt = false;
    }
}

// Executes a primitive: `body(off)` runs with interrupts off; then the calling task returns to its own code.
template <typename Body>
[[gnu::always_inline]] inline std::invoke_result_t<Body, IrqOff> primitive(Body body, OpenSection section) {
    const auto in_section = [&]() __attribute__((always_inline)) {
        const IrqGuard guard(section);
        return body(guard);
    };
    if constexpr (std::is_void_v<std::invoke_result_t<Body, IrqOff>>) {
        in_section();
        return_to_task();
    } else {
        const auto result = in_section();
        return upcalls_due() ? detail::after_upcalls(result) : result;
    }
}

template <typename Body>
[[gnu::always_inline]] inline std::invoke_result_t<Body, IrqOff> primitive(Body body, SectionPlace place = {}) {
    return primitive(body, begin_section(place));
}

// Executes a primitive whose usual case calls no function: `usual(off)` carries it out and returns true, or changes
// nothing. Every other case is carried out by `rest(section)`, a function of its own that continues the section by
// primitive(), so that the usual case saves no register for it.
template <typename Usual, typename Rest>
[[gnu::always_inline]] inline lib::Result<void> usually(Usual usual, Rest rest, SectionPlace place = {}) {
    const OpenSection section = begin_section(place);
    if (!usual(IrqOff::from_save())) [[unlikely]] {
        return rest(section);
    }
    end_section(section);
    return upcalls_due() ? detail::after_upcalls(lib::Result<void>{}) : lib::Result<void>{};
}

} // namespace kernel
