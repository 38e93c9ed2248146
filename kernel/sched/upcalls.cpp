// SPDX-License-Identifier: MIT
// Calls handlers at the return to the task.
#include "kernel/sched/upcalls.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/section/section_meter.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/task.hpp"

#include <array>
#include <bit>

namespace kernel {

namespace {

template <typename Function>
struct Handler {
    Function function = nullptr;
    void* argument = nullptr;
};

constexpr std::uint64_t kExceptionBits = upcall_bit(TaskException::deadline_miss) | upcall_bit(TaskException::wcet) |
                                         upcall_bit(TaskException::activation) | upcall_bit(TaskException::fault);

// Both tables are indexed by pid. An entry is valid while upcalls.handled has its bit.
constinit std::array<Handler<ExceptionHandler>, kTasksMax> s_exception_handlers{};
constinit std::array<std::array<Handler<SignalHandler>, kSignalMax + 1>, kTasksMax> s_signal_handlers{};

void set_handled(Task& task, std::uint64_t bits, bool handled) {
    task.upcalls.handled &= ~bits;
    task.upcalls.handled |= handled ? bits : 0;
}

std::uint8_t lowest_signal(std::uint64_t bits) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(std::countr_zero(bits)) - kSignalShift);
}

// Calls a handler with interrupts on; they are off before and after the call.
template <typename Function, typename Number>
void call(Handler<Function> handler, Number number, IrqOff) {
    section_ends();
    arch::irq_enable();
    handler.function(number, handler.argument);
    static_cast<void>(arch::irq_save());
    section_begins();
}

// Calls all handlers that are due with interrupts on; they are off before and after it.
void deliver_upcalls(IrqOff off) {
    Task& self = *this_processor().loaded;
    while (const std::uint64_t due = self.upcalls.due()) {
        const std::uint64_t lowest = due & -due;
        self.upcalls.pending &= ~lowest;
        self.upcalls.active |= lowest;
        if (lowest < upcall_bit(kSignalMin)) {
            call(s_exception_handlers[self.pid.value], static_cast<TaskException>(std::countr_zero(lowest)), off);
        } else {
            const std::uint8_t signo = lowest_signal(lowest);
            trace_points::signal_delivered(self, signo);
            call(s_signal_handlers[self.pid.value][signo], signo, off);
        }
        self.upcalls.active &= ~lowest;
    }
}

} // namespace

// Raises a signal. One that a task waits for stays pending until the task runs, but its handler cannot get it, because
// the task takes it before it returns to its own code.
void raise_signal(Task& task, std::uint8_t signo, IrqOff off) {
    ASSERT(!lib::kChecked || (signo >= kSignalMin && signo <= kSignalMax && task.state != TaskState::free));
    trace_points::signal_raised(task, signo);
    task.upcalls.pending |= upcall_bit(signo);
    if ((task.upcalls.awaited & upcall_bit(signo)) != 0) {
        task_timer_delete(task.pid, TaskTimer::delay, off);
        task.upcalls.awaited = 0;
        unblock_task(task, off);
    }
}

std::uint8_t take_signal(Task& task, std::uint64_t bits, IrqOff) {
    ASSERT(!lib::kChecked || (task.upcalls.pending & bits) != 0);
    const std::uint8_t signo = lowest_signal(task.upcalls.pending & bits);
    task.upcalls.pending &= ~upcall_bit(signo);
    trace_points::signal_delivered(task, signo);
    return signo;
}

void set_exception_handler(Task& task, ExceptionHandler handler, void* argument, IrqOff) {
    s_exception_handlers[task.pid.value] = {handler, argument};
    set_handled(task, kExceptionBits, handler != nullptr);
}

void set_signal_handler(Task& task, std::uint8_t signo, SignalHandler handler, void* argument, IrqOff) {
    s_signal_handlers[task.pid.value][signo] = {handler, argument};
    set_handled(task, upcall_bit(signo), handler != nullptr);
}

void deliver_upcalls() {
    const std::uint64_t state = arch::irq_save();
    if (arch::irq_was_enabled(state)) {
        if (upcalls_due()) {
            deliver_upcalls(IrqOff::from_save());
        }
        section_ends();
    }
    arch::irq_restore(state);
}

void detail::leave_interrupt(IrqOff off) {
    preempt_if_needed(off);
    if (upcalls_due()) {
        deliver_upcalls(off);
    }
}

} // namespace kernel
