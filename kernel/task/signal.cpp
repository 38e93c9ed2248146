// SPDX-License-Identifier: MIT
// Implements signals; the bits are those of Upcalls (task_object.hpp).
#include "kernel/task/signal.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"

namespace kernel {

namespace {

constexpr SignalSet kAllSignals = ~SignalSet{1};

constexpr std::uint64_t bits_of(SignalSet set) {
    return std::uint64_t{set & kAllSignals} << kSignalShift;
}

constexpr SignalSet set_of(std::uint64_t bits) {
    return static_cast<SignalSet>(bits >> kSignalShift) & kAllSignals;
}

bool is_signal(std::uint8_t signo) {
    return signo >= kSignalMin && signo <= kSignalMax;
}

void wait_is_over(Task& task, IrqOff off) {
    task.upcalls.awaited = 0;
    unblock_task(task, off);
    schedule(off);
}

// Begins to wait, without a limit if `until` is null.
void begin_wait(Task& self, std::uint64_t wanted, const lib::Ticks* until, IrqOff off) {
    block_task(self, {.kind = WaitKind::signal}, off);
    self.upcalls.awaited = wanted;
    if (until != nullptr) {
        task_timer_post<&wait_is_over>(self, TaskTimer::delay, *until, off);
    }
}

lib::Result<std::uint8_t> wait(SignalSet set, const lib::Ticks* until) {
    const std::uint64_t wanted = bits_of(set);
    if (wanted == 0) {
        return lib::Error::invalid_argument;
    }
    return primitive([&](IrqOff off) -> lib::Result<std::uint8_t> {
        Task& self = calling_task(off);
        if ((self.upcalls.pending & wanted) == 0) {
            if (until != nullptr && *until <= now()) {
                return lib::Error::timeout;
            }
            give_up(off); // the alarm on its own clock may be due
            if ((self.upcalls.pending & wanted) == 0) {
                begin_wait(self, wanted, until, off);
            }
            schedule(off);
            if ((self.upcalls.pending & wanted) == 0) {
                return lib::Error::timeout;
            }
        }
        return take_signal(self, wanted, off);
    });
}

} // namespace

lib::Result<void> signal_handler_set(std::uint8_t signo, SignalHandler handler, void* argument) {
    if (!is_signal(signo)) {
        return lib::Error::invalid_argument;
    }
    return primitive([&](IrqOff off) -> lib::Result<void> {
        set_signal_handler(calling_task(off), signo, handler, argument, off);
        return {};
    });
}

SignalSet signal_mask(SignalSet set) {
    return primitive([&](IrqOff off) -> SignalSet {
        Task& self = calling_task(off);
        const SignalSet former = set_of(self.upcalls.masked);
        self.upcalls.masked = bits_of(set);
        return former;
    });
}

lib::Result<void> signal_raise(Pid pid, std::uint8_t signo) {
    if (!is_signal(signo)) {
        return lib::Error::invalid_argument;
    }
    return primitive([&](IrqOff off) -> lib::Result<void> {
        Task* const task = find_task(pid, off);
        if (task == nullptr) {
            return lib::Error::not_found;
        }
        raise_signal(*task, signo, off);
        schedule(off);
        return {};
    });
}

lib::Result<SignalSet> signal_pending(Pid pid) {
    const IrqGuard off;
    const Task* const task = find_task(pid, off);
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

} // namespace kernel
