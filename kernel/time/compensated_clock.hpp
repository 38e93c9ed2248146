// SPDX-License-Identifier: MIT
// Declares the kernel's clock, which is set back while tasks run in steps (compensator.hpp has the rules). Every
// function is about this processor's clock, and works only in kernels with COMPENSATION=ON: in all others the clock is
// the counter, and nothing of this costs anything.
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/time/compensator.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

namespace kernel {

// States whether this kernel was built with COMPENSATION=ON.
#ifdef REMORA_COMPENSATION
inline constexpr bool kCompensationBuilt = true;
#else
inline constexpr bool kCompensationBuilt = false;
#endif

// Sets the clock back with each step from now on, unless a guard holds. If the parameters state the cost of a record,
// each record sets the clock back, and steps do not.
// unsupported: this kernel was built without compensation.
// invalid_argument: the trigger is 2^32-1, step or max_delta is 0, or near_overflow is within max_delta of the clock's
// end.
// Context: any.
lib::Result<void> clock_compensation_start(const compensation::Parameters& parameters);

// Stops the compensation: nothing sets the clock back from now on.
// Context: any.
void clock_compensation_stop();

// Returns the counts of outcomes and the time that was removed since boot. A stop and a start change neither.
// Context: any.
[[nodiscard]] const compensation::Compensator& clock_compensation();

// --- for the kernel

namespace compensation {

// Returns the kernel's time. Context: any.
[[nodiscard]] lib::Ticks now();

// Returns what the machine's counter shows at this time of the kernel's clock. Context: irq-off.
[[nodiscard]] lib::Ticks machine_time(lib::Ticks kernel_time);

// Counts a step of the running task, and calls take(), which records it.
void step(void (*take)(void* argument), void* argument, IrqOff);

// Records how much was removed so far, for readers who missed the earlier records; nothing is recorded if it is 0.
void record_removed(IrqOff);

// Must be called when code that is not traced has run, or is about to run.
void untraced(IrqOff);

// Must be called at the beginning of the timer's interrupt, before anything is recorded. Returns true if the interrupt
// came too early, only because the cost of records was taken from the clock. The timer is then set again and the
// interrupt acknowledged, and the caller has nothing else to do.
[[nodiscard]] bool timer_early(IrqOff);

// Must be called at the end of an interrupt. It records how much was removed if records are compensated.
void interrupt_ends(IrqOff);

} // namespace compensation

// Must be called when untraced code has run, or is about to: its time is genuine, however densely a task is traced.
[[gnu::always_inline]] inline void clock_untraced(IrqOff off) {
    if constexpr (kCompensationBuilt) {
        compensation::untraced(off);
    }
}

} // namespace kernel
