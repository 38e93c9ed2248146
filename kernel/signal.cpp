// SPDX-License-Identifier: MIT
// See signal.hpp; the bits are those of upcalls.hpp.
#include "kernel/signal.hpp"

#include "kernel/clock.hpp"
#include "kernel/exception.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/section_meter.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_points.hpp"

#include <array>
#include <bit>

namespace kernel {

namespace {

struct Handler {
    SignalHandler function = nullptr;
    void* argument = nullptr;
};

constexpr SignalSet kAllSignals = ~SignalSet{1};

constinit std::array<std::array<Handler, kSignalMax + 1>, kTasksMax> s_handlers{}; // by pid and signal

constexpr std::uint64_t bits_of(SignalSet set) {
    return std::uint64_t{set & kAllSignals} << kSignalShift;
}

constexpr SignalSet set_of(std::uint64_t bits) {
    return static_cast<SignalSet>(bits >> kSignalShift) & kAllSignals;
}

bool is_signal(std::uint8_t signo) {
    return signo >= kSignalMin && signo <= kSignalMax;
}

Task& self_irq_off() {
    Task* const self = current_task_irq_off();
    ASSERT(self != nullptr && !this_processor().in_interrupt);
    return *self;
}

std::uint8_t lowest_signal(std::uint64_t bits) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(std::countr_zero(bits)) - kSignalShift);
}

std::uint8_t take_irq_off(Task& task, std::uint64_t bits) {
    const std::uint8_t signo = lowest_signal(task.upcalls.pending & bits);
    task.upcalls.pending &= ~upcall_bit(signo);
    trace_points::signal_delivered(task, signo);
    return signo;
}

void wait_is_over(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    task.upcalls.awaited = 0;
    unblock_task_irq_off(task);
    schedule_irq_off();
}

void call_signal_handler_irq_off(const Task& task, std::uint8_t signo) {
    const Handler handler = s_handlers[task.pid.value][signo];
    trace_points::signal_delivered(task, signo);
    section_ends();
    arch::irq_enable();
    handler.function(signo, handler.argument);
    static_cast<void>(arch::irq_save());
    section_begins();
}

// `until` null: for ever.
void begin_wait_irq_off(Task& self, std::uint64_t wanted, const lib::Ticks* until) {
    block_task_irq_off(self, {.kind = WaitKind::signal});
    self.upcalls.awaited = wanted;
    if (until != nullptr) {
        task_timer_post_irq_off(self.pid, TaskTimer::delay, *until, &wait_is_over);
    }
}

lib::Result<std::uint8_t> wait(SignalSet set, const lib::Ticks* until) {
    const std::uint64_t wanted = bits_of(set);
    if (wanted == 0) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    Task& self = self_irq_off();
    if ((self.upcalls.pending & wanted) == 0) {
        if (until != nullptr && *until <= now()) {
            return lib::Error::timeout;
        }
        give_up_irq_off(); // it may be time for the alarm on its own clock
        if ((self.upcalls.pending & wanted) == 0) {
            begin_wait_irq_off(self, wanted, until);
        }
        schedule_irq_off();
        if ((self.upcalls.pending & wanted) == 0) {
            return lib::Error::timeout;
        }
    }
    return take_irq_off(self, wanted);
}

} // namespace

lib::Result<void> signal_handler_set(std::uint8_t signo, SignalHandler handler, void* argument) {
    if (!is_signal(signo)) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    Task& self = self_irq_off();
    s_handlers[self.pid.value][signo] = {handler, argument};
    self.upcalls.handled &= ~upcall_bit(signo);
    self.upcalls.handled |= handler != nullptr ? upcall_bit(signo) : 0;
    return {};
}

SignalSet signal_mask(SignalSet set) {
    const IrqGuard guard;
    Task& self = self_irq_off();
    const SignalSet former = set_of(self.upcalls.masked);
    self.upcalls.masked = bits_of(set);
    return former;
}

lib::Result<void> signal_raise(Pid pid, std::uint8_t signo) {
    if (!is_signal(signo)) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    raise_signal_irq_off(*task, signo);
    schedule_irq_off();
    return {};
}

lib::Result<SignalSet> signal_pending(Pid pid) {
    const IrqGuard guard;
    const Task* const task = find_task(pid);
    if (task == nullptr) {
        return lib::Error::not_found;
    }
    return set_of(task->upcalls.pending);
}

lib::Result<std::uint8_t> signal_wait(SignalSet set) {
    return wait(set, nullptr);
}

lib::Result<std::uint8_t> signal_timedwait(SignalSet set, lib::Nanoseconds timeout) {
    const lib::Ticks until = after(timeout);
    return wait(set, &until);
}

// What a task waits for stays pending until it runs, but its handler cannot get it: the task takes it before it returns
// to its own code.
void raise_signal_irq_off(Task& task, std::uint8_t signo) {
    trace_points::signal_raised(task, signo);
    task.upcalls.pending |= upcall_bit(signo);
    if ((task.upcalls.awaited & upcall_bit(signo)) != 0) {
        task_timer_delete_irq_off(task.pid, TaskTimer::delay);
        task.upcalls.awaited = 0;
        unblock_task_irq_off(task);
    }
}

void deliver_upcalls_irq_off() {
    Task& self = *this_processor().loaded;
    while (const std::uint64_t due = self.upcalls.due()) {
        const std::uint64_t lowest = due & -due;
        self.upcalls.pending &= ~lowest;
        self.upcalls.active |= lowest;
        if (lowest < upcall_bit(kSignalMin)) {
            call_exception_handler_irq_off(self, static_cast<TaskException>(std::countr_zero(lowest)));
        } else {
            call_signal_handler_irq_off(self, lowest_signal(lowest));
        }
        self.upcalls.active &= ~lowest;
    }
}

void deliver_upcalls() {
    const std::uint64_t state = arch::irq_save();
    if (upcalls_due()) {
        deliver_upcalls_irq_off();
    }
    section_ends();
    arch::irq_restore(state);
}

} // namespace kernel
