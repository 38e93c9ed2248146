// SPDX-License-Identifier: MIT
// A timer event runs a handler in interrupt context at an absolute time, once or periodically. There is no periodic
// tick: the machine's one-shot timer is armed for what comes first, an event or the end of a budget (budget_end.hpp).
// Handlers run with interrupts off, the earliest first, those of equal times in the order in which they were posted.
// They may activate tasks, post semaphores, and post and delete events; they must not block.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_model.hpp"
#include "kernel/time/timer_heap.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>

namespace kernel {

struct Task;

using TimerHandler = void (*)(void* argument);

// A TimerId names one posting. It stays invalid after the event has fired or was deleted, even if the slot is used
// again. The default value and 0 name none.
struct TimerId {
    std::uint64_t value = ~std::uint64_t{0}; // a number of the posting, above the index

    // Returns the number of the event in the trace.
    [[nodiscard]] constexpr std::uint16_t index() const { return static_cast<std::uint16_t>(value); }

    friend constexpr bool operator==(TimerId, TimerId) = default;
};

// Posts an event that fires once, in O(log n). An event whose time has passed fires as soon as interrupts are on.
// invalid_argument: there is no handler.
// no_space: kTimerEventsMax events are posted.
// Context: any.
lib::Result<TimerId> kern_event_post(lib::Ticks at, TimerHandler handler, void* argument);

// Posts an event that fires at `first` and then at first + k * period, exactly: neither late handlers nor rounding
// shift later times. Expirations for which the machine was too late are skipped and counted (timer_overruns()).
// invalid_argument: there is no handler, or the period is below kTimerPeriodMin.
// no_space: kTimerEventsMax events are posted.
// Context: any.
lib::Result<TimerId> kern_event_post_periodic(lib::Ticks first, lib::Nanoseconds period, TimerHandler handler,
                                              void* argument);

// Deletes an event, so that it does not fire any more. A periodic event may delete itself.
// not_found: the event has fired (if it fires once), was deleted before, or was never posted.
// Context: any.
lib::Result<void> kern_event_delete(TimerId id);

// Returns how many expirations of periodic events were skipped since boot.
// Context: any.
[[nodiscard]] std::uint64_t timer_overruns();

// --- for the kernel: its own timers. Each task has one for each purpose, so posting them cannot fail.

enum class TaskTimer : std::uint8_t {
    job, // release or deadline
    delay,
    server, // GRUB: the zero-lag time
    cpu_alarm,
};

namespace detail {

void post_task_timer(Task& task, TaskTimer purpose, lib::Ticks at, TimerHandler handler, IrqOff);

} // namespace detail

// Posts the task's timer for this purpose, and replaces what was posted for it.
template <void (*Handler)(Task& task, IrqOff)>
void task_timer_post(Task& task, TaskTimer purpose, lib::Ticks at, IrqOff off) {
    const auto handler = [](void* argument) { Handler(*static_cast<Task*>(argument), IrqOff::from_entry()); };
    detail::post_task_timer(task, purpose, at, handler, off);
}

// Deletes the task's timer for this purpose; it does nothing if that is not posted.
void task_timer_delete(Pid pid, TaskTimer purpose, IrqOff);

// Each polling or deferrable server, numbered from 0, has one timer, which is posted and deleted in the same way.
void server_timer_post(std::size_t server, lib::Ticks at, TimerHandler handler, void* argument, IrqOff);
void server_timer_delete(std::size_t server, IrqOff);

// --- for the kernel: the composition root and the scheduler

// Serves the timer interrupt: it runs the handlers that are due, kTimerBatchMax at most, and arms the machine for the
// rest.
void timer_interrupt(IrqOff);

// Arms the machine for what comes next, which may have changed, or leaves that to the scheduler if a decision is due.
void timer_changed(IrqOff);

// Arms the machine at the end of a scheduler's decision, unless it is armed for that time already.
void timer_settle(IrqOff);

// Returns whether the machine's timer will ring. Until timer_settle() it may be set for another time, or not at all.
[[nodiscard]] bool timer_is_set(IrqOff);

// Returns whether an event or the end of a budget is to come, and when. Precondition of timer_due(): one is to come.
[[nodiscard]] bool timer_armed(IrqOff);
[[nodiscard]] lib::Ticks timer_due(IrqOff);

// Arms the machine for the same time once more, after the clock was set back.
void timer_arm_again(IrqOff);

// Drops every event and disarms the machine at the end of the run.
void delete_all_timers(IrqOff);

} // namespace kernel
