// SPDX-License-Identifier: MIT
// Timer events: a handler that runs in interrupt context at an absolute time, once or periodically. Tickless: the
// machine's one-shot timer is armed for what comes first, an event or the end of a budget (budget_end.hpp). Handlers
// run with interrupts off, earliest first, equal times in the order in which they were posted; they may activate tasks,
// post semaphores, post and delete events, and must not block.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_types.hpp"
#include "kernel/time/timer_heap.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>

namespace kernel {

struct Task;

using TimerHandler = void (*)(void* argument);

// Names one posting: after the event has fired or was deleted, the id stays invalid even if the slot is reused. The
// default is none, and so is 0.
struct TimerId {
    std::uint64_t value = ~std::uint64_t{0}; // a number of the posting, above the index

    // As in the trace.
    [[nodiscard]] constexpr std::uint16_t index() const { return static_cast<std::uint16_t>(value); }

    friend constexpr bool operator==(TimerId, TimerId) = default;
};

// O(log n). A time that has passed fires as soon as interrupts are on. invalid_argument: no handler. no_space:
// kTimerEventsMax events are posted. Context: any.
lib::Result<TimerId> kern_event_post(lib::Ticks at, TimerHandler handler, void* argument);

// Fires at `first` and then at first + k * period, exactly: neither late handlers nor rounding shift later times.
// Expirations that the machine was too late for are skipped and counted (timer_overruns). Errors as above, and
// invalid_argument for a period below kTimerPeriodMin. Context: any.
lib::Result<TimerId> kern_event_post_periodic(lib::Ticks first, lib::Nanoseconds period, TimerHandler handler,
                                              void* argument);

// not_found: it has fired (one-shot), was deleted, or never was. A periodic event may delete itself. Context: any.
lib::Result<void> kern_event_delete(TimerId id);

// Skipped expirations of periodic events since boot. Context: any.
[[nodiscard]] std::uint64_t timer_overruns();

// --- the kernel's own timers: one of each per task, so posting them cannot fail -------------------------------------

enum class TaskTimer : std::uint8_t {
    job, // release or deadline
    delay,
    server, // GRUB: the zero-lag time
    cpu_alarm,
};

namespace detail {

void post_task_timer(Task& task, TaskTimer purpose, lib::Ticks at, TimerHandler handler, IrqOff);

} // namespace detail

// Replaces what was posted for this task and purpose.
template <void (*Handler)(Task& task, IrqOff)>
void task_timer_post(Task& task, TaskTimer purpose, lib::Ticks at, IrqOff off) {
    const auto handler = [](void* argument) { Handler(*static_cast<Task*>(argument), IrqOff::from_entry()); };
    detail::post_task_timer(task, purpose, at, handler, off);
}

// Does nothing if it is not posted.
void task_timer_delete(Pid pid, TaskTimer purpose, IrqOff);

// One of each polling or deferrable server, numbered from 0; as the two above.
void server_timer_post(std::size_t server, lib::Ticks at, TimerHandler handler, void* argument, IrqOff);
void server_timer_delete(std::size_t server, IrqOff);

// --- the composition root ------------------------------------------------------------------------------------------

// Serves the timer interrupt: runs what is due, at most kTimerBatchMax handlers, and arms the machine for the rest.
void timer_interrupt(IrqOff);

// What comes next may have changed: arms the machine for it, or leaves that to the scheduler if a decision is due.
void timer_changed(IrqOff);

// The same for the scheduler, at the end of a decision. Does nothing if the machine is armed for that time already.
void timer_settle(IrqOff);

// Whether the machine's timer will ring. Until the scheduler settles it may be set for another time, or not at all.
[[nodiscard]] bool timer_is_set(IrqOff);

// Whether something is to come; and the machine armed for the same once more, after the clock was set back.
[[nodiscard]] bool timer_armed(IrqOff);
[[nodiscard]] lib::Ticks timer_due(IrqOff); // precondition: something is to come
void timer_arm_again(IrqOff);

// Drops every event and disarms the machine: the end of the run.
void delete_all_timers(IrqOff);

} // namespace kernel
