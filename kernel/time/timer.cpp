// SPDX-License-Identifier: MIT
// The timer queue is a static table of events, a heap of those that are posted, and one armed hardware timer. The timer
// is armed for the earliest event or the end of the running position's budget, whichever is first: once for each
// decision of the scheduler, and only if that time has changed.
//
//   index:  0 .. kTimerEventsMax-1    kern_event_post
//           kTimerEventsMax + pid * kTimersPerTask + purpose    the kernel's own, and after them one per server, and
//           after those, in no heap, the budget ends of the tasks (budget_end.hpp)
#include "kernel/time/timer.hpp"

#include "arch/arch.hpp"
#include "kernel/config.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/time/budget_end.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/phase_shift.hpp"
#include "kernel/time/timer_heap.hpp"
#include "kernel/trace/schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kernel {

namespace {

using Index = std::uint16_t;

// The trace shows this instead of an index that a caller made up.
constexpr Index kNoIndex = 0xFFFF;

// The greatest id belongs to no posting, because its index is none.
constexpr TimerId kNotPosted{~std::uint64_t{0}};

// An event is as large as a cache line, so that an index becomes an address by a shift.
struct alignas(64) Event {
    TimerHandler handler = nullptr;
    void* argument = nullptr;
    TimerId id = kNotPosted; // only of kern_event_post
    lib::Nanoseconds period; // 0: one-shot
    // --- of a periodic one
    lib::Ticks first;
    std::uint64_t fired = 0; // expirations so far, skipped ones included

    [[nodiscard]] lib::Ticks next() const { return first + to_ticks({period.value * fired}); }
};

// Keeps the unused slots of kern_event_post on a stack, at first with the lowest index on top.
class FreeSlots {
  public:
    constexpr FreeSlots() {
        for (std::size_t i = 0; i < kTimerEventsMax; ++i) {
            m_slots[i] = static_cast<Index>(kTimerEventsMax - 1 - i);
        }
    }

    [[nodiscard]] bool empty() const { return m_count == 0; }

    // Precondition: it is not empty.
    Index take() { return m_slots[--m_count]; }

    void give_back(Index index) { m_slots[m_count++] = index; }

  private:
    std::array<Index, kTimerEventsMax> m_slots{};
    std::size_t m_count = kTimerEventsMax;
};

struct Queue {
    std::array<Event, kTimersMax> events{};
    TimerHeap<kTimersMax> heap;
    FreeSlots free;
    std::uint64_t overruns = 0;
    lib::Ticks armed = kNever; // the time for which the machine's timer is set
    bool in_batch = false;     // the interrupt arms the timer once, at its end

    [[nodiscard]] lib::Ticks next() const { return std::min(heap.top_time(), detail::budget_end.at); }
};

constinit Queue s_queue;

Index task_timer_index(Pid pid, TaskTimer purpose) {
    return static_cast<Index>(kTimerEventsMax + pid.value * kTimersPerTask + static_cast<std::size_t>(purpose));
}

Index server_timer_index(std::size_t server) {
    return static_cast<Index>(kTimerEventsMax + kTasksMax * kTimersPerTask + server);
}

// Converts a time, because the machine's timer follows the machine's counter.
lib::Ticks machine_time(lib::Ticks time) {
    if constexpr (kCompensationBuilt) {
        return compensation::machine_time(time);
    } else {
        return time;
    }
}

void arm(lib::Ticks next) {
    s_queue.armed = next;
    if (next == kNever) {
        arch::timer_disarm();
    } else {
        arch::timer_arm(machine_time(next));
    }
}

// Takes an event out of the heap, because it is no longer posted.
[[gnu::always_inline]] inline void remove(Index index, IrqOff off) {
    if (s_queue.heap.top() == index) {
        s_queue.heap.pop();
        timer_changed(off);
    } else {
        s_queue.heap.remove(index);
    }
}

void delete_own(Index index, IrqOff off) {
    if (!s_queue.heap.contains(index)) {
        return;
    }
    trace_points::timer_deleted(index);
    remove(index, off);
}

void post_own(Index index, lib::Ticks at, TimerHandler handler, void* argument, IrqOff off) {
    Event& event = s_queue.events[index];
    event.handler = handler;
    event.argument = argument;
    bool first = false;
    if (s_queue.heap.contains(index)) {
        trace_points::timer_deleted(index);
        first = s_queue.heap.top() == index;
        s_queue.heap.move(index, at);
    } else {
        s_queue.heap.push(index, at);
    }
    trace_points::timer_posted(index);
    if (first || s_queue.heap.top() == index) {
        timer_changed(off);
    }
}

// The rare ends of post() are apart from it, so that it saves no register for what they call.
[[gnu::noinline]] lib::Result<TimerId> not_posted(TimerHandler handler, OpenSection section) {
    const IrqGuard off(section);
    if (handler == nullptr) {
        return lib::Error::invalid_argument;
    }
    trace_points::timer_posted(kNoIndex);
    return lib::Error::no_space;
}

[[gnu::noinline]] lib::Result<TimerId> posted_first(TimerId id, OpenSection section) {
    const IrqGuard off(section);
    timer_changed(off);
    return id;
}

[[gnu::always_inline]] inline lib::Result<TimerId> post(lib::Ticks first, lib::Nanoseconds period, TimerHandler handler,
                                                        void* argument) {
    const OpenSection section = begin_section();
    if (handler == nullptr || s_queue.free.empty()) {
        return not_posted(handler, section);
    }
    const Index index = s_queue.free.take();
    trace_points::timer_posted(index);
    Event& event = s_queue.events[index];
    event.handler = handler;
    event.argument = argument;
    event.period = period;
    if (period.value != 0) {
        event.first = first;
        event.fired = 0;
    }
    const TimerId id{s_queue.heap.push(index, first)};
    event.id = id;
    if (s_queue.heap.top_order() == id.value) {
        return posted_first(id, section);
    }
    end_section(section);
    return id;
}

void give_back(Index index) {
    s_queue.events[index].id = kNotPosted;
    s_queue.free.give_back(index);
}

// Takes the event off the heap, or moves it to its next expiration in the future.
void advance(Index index, Event& event, lib::Ticks time) {
    if (event.period.value == 0) {
        s_queue.heap.pop();
        if (index < kTimerEventsMax) {
            give_back(index);
        }
        return;
    }
    ++event.fired;
    if (event.next() <= time) {
        const std::uint64_t elapsed_ns = to_nanoseconds(time - event.first).value;
        const std::uint64_t due = elapsed_ns / event.period.value + 1;
        s_queue.overruns += due > event.fired ? due - event.fired : 0;
        event.fired = due > event.fired ? due : event.fired;
    }
    s_queue.heap.move(index, event.next());
}

void serve_budget_end(IrqOff off) {
    const BudgetEnd ended = std::exchange(detail::budget_end, BudgetEnd{});
    ended.handler(*ended.task, off);
}

void serve_first(lib::Ticks time) {
    const Index index = s_queue.heap.top();
    Event& event = s_queue.events[index];
    const TimerHandler handler = event.handler;
    void* const argument = event.argument;
    advance(index, event, time);
    handler(argument);
}

} // namespace

lib::Result<TimerId> kern_event_post(lib::Ticks at, TimerHandler handler, void* argument) {
    return post(at, {}, handler, argument);
}

lib::Result<TimerId> kern_event_post_periodic(lib::Ticks first, lib::Nanoseconds period, TimerHandler handler,
                                              void* argument) {
    if (period < kTimerPeriodMin) {
        return lib::Error::invalid_argument;
    }
    return post(first + event_shift(), period, handler, argument);
}

lib::Result<void> kern_event_delete(TimerId id) {
    const IrqGuard off;
    const Index index = id.index();
    trace_points::timer_deleted(index);
    if (index >= kTimerEventsMax || s_queue.events[index].id != id) {
        return lib::Error::not_found;
    }
    give_back(index);
    remove(index, off);
    return {};
}

std::uint64_t timer_overruns() {
    const IrqGuard guard;
    return s_queue.overruns;
}

void detail::post_task_timer(Task& task, TaskTimer purpose, lib::Ticks at, TimerHandler handler, IrqOff off) {
    post_own(task_timer_index(task.pid, purpose), at, handler, &task, off);
}

void task_timer_delete(Pid pid, TaskTimer purpose, IrqOff off) {
    delete_own(task_timer_index(pid, purpose), off);
}

void server_timer_post(std::size_t server, lib::Ticks at, TimerHandler handler, void* argument, IrqOff off) {
    post_own(server_timer_index(server), at, handler, argument, off);
}

void server_timer_delete(std::size_t server, IrqOff off) {
    delete_own(server_timer_index(server), off);
}

void timer_interrupt(IrqOff off) {
    trace_points::timer_wakeup_started();
    s_queue.armed = kNever; // it fires once
    s_queue.in_batch = true;
    for (std::size_t count = 0; count < kTimerBatchMax; ++count) {
        const lib::Ticks time = now();
        const lib::Ticks queued = s_queue.heap.top_time();
        if (std::min(queued, detail::budget_end.at) > time) {
            break;
        }
        if (detail::budget_end.at < queued) {
            serve_budget_end(off);
        } else {
            serve_first(time);
        }
    }
    s_queue.in_batch = false;
    timer_changed(off);
    trace_points::timer_wakeup_ended(current_task(off));
}

// A decision is due from the moment when a task gives up the processor, or an interrupt asks for one. The scheduler
// settles at the end of each decision.
void timer_changed(IrqOff off) {
    const Processor& cpu = this_processor();
    const bool decision_due = cpu.reschedule && cpu.loaded != nullptr;
    if (!s_queue.in_batch && !decision_due) {
        timer_settle(off);
    }
}

void timer_settle(IrqOff) {
    if (const lib::Ticks next = s_queue.next(); next != s_queue.armed) {
        arm(next);
    }
}

bool timer_is_set(IrqOff) {
    return s_queue.armed != kNever;
}

bool timer_armed(IrqOff) {
    return s_queue.next() != kNever;
}

lib::Ticks timer_due(IrqOff) {
    return s_queue.next();
}

void timer_arm_again(IrqOff) {
    if (!s_queue.in_batch) {
        arm(s_queue.next());
    }
}

void delete_all_timers(IrqOff) {
    while (!s_queue.heap.empty()) {
        const Index index = s_queue.heap.top();
        s_queue.heap.pop();
        if (index < kTimerEventsMax) {
            give_back(index);
        }
    }
    detail::budget_end = {};
    arm(kNever);
}

} // namespace kernel
