// SPDX-License-Identifier: MIT
// The kernel's clock, set back while tasks run in steps (compensator.hpp has the rules). Everything here is about this
// processor's clock; each processor has its own (processor_clock.hpp). Called in kernels with COMPENSATION=ON alone: in
// every other the clock is the counter, and all of this costs nothing.
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/time/compensator.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

namespace kernel {

// What the build says.
#ifdef REMORA_COMPENSATION
inline constexpr bool kCompensationBuilt = true;
#else
inline constexpr bool kCompensationBuilt = false;
#endif

// From here on each step sets the clock back, unless a guard holds; with a cost of a record, each record does instead,
// and steps do not. unsupported: this kernel was built without; invalid_argument: a trigger of 2^32-1, a step or a
// max_delta of 0, or a near_overflow within max_delta of the clock's end. Context: any but NMI.
lib::Result<void> clock_compensation_start(const compensation::Parameters& parameters);
void clock_compensation_stop();

// Counts, and what was removed, since boot: a stop and a start change neither. Context: any.
[[nodiscard]] const compensation::Compensator& clock_compensation();

namespace compensation {

// The kernel's time. Context: any.
[[nodiscard]] lib::Ticks now();

// When the machine's counter will be where the kernel's clock is to be then. irq-off.
[[nodiscard]] lib::Ticks machine_time(lib::Ticks kernel_time);

// A step of the running task: take() leaves its trace.
void step(void (*take)(void* argument), void* argument, IrqOff);

// Leaves in the trace what was removed so far, for readers who missed the records of it. Nothing if nothing was.
// irq-off.
void record_removed(IrqOff);

// Code that is not traced has run, or is about to.
void untraced(IrqOff);

// At the begin of the timer's interrupt, before anything is recorded. True: it came too early, only because the cost of
// records was taken from the clock; the timer is set again, the interrupt acknowledged, and nothing else is to be done.
[[nodiscard]] bool timer_early(IrqOff);

// At the end of an interrupt: what was removed, if records are compensated.
void interrupt_ends(IrqOff);

} // namespace compensation

// Code that is not traced has run, or is about to: its time is genuine, however densely a task is traced.
[[gnu::always_inline]] inline void clock_untraced(IrqOff off) {
    if constexpr (kCompensationBuilt) {
        compensation::untraced(off);
    }
}

} // namespace kernel
