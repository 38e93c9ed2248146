// SPDX-License-Identifier: MIT
// Waiting can end without what was waited for: time is up, the job is aborted, or the task ends. One of each task's
// timers is the limit of its wait, because a task waits for one thing at a time.
//
// A wait is over at its limit, whenever the task runs then: it lends its position no longer, and what it waited for
// does not come to it any more, even a mutex that has become free and that it only had no time to take.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "kernel/time/clock.hpp"
#include "lib/intrusive_tree.hpp"

namespace kernel {

inline constexpr lib::Ticks kForever{~std::uint64_t{0}};

// Returns the limit of a wait that begins now.
[[nodiscard]] inline lib::Ticks wait_limit(lib::Nanoseconds timeout) {
    return after(timeout);
}

// Ends the task's wait at `until` at the latest; task.timed_out is false until then.
void start_timeout(Task& task, lib::Ticks until, IrqOff);

// Removes the limit, because the task got what it waited for.
void stop_timeout(Task& task, IrqOff);

// Ends all waits of the task: it is then in no wait queue, lends its position to no task, and has no limit and no
// delay. It does not become ready by this.
void leave_waits(Task& task, IrqOff);

// Frees every mutex that the task owns and marks it as abandoned. The caller schedules.
void release_all_mutexes(Task& task, IrqOff);

// A wait queue has the tasks that have left their ready queues to wait for something: a unit, a message, a signal of a
// condition, a mutex without a protocol. The most urgent one is woken first: by the level in whose queue it ran (search
// order), then by the key of its position there (a deadline, a period, a turn), then in the order of arrival. O(log n).
//
//   ready queue --enter--> wait queue --wake--> ready queue         timeout, end and abort: see above
//
// A position counts as it was when the task began to wait: a deadline that changes meanwhile holds from the next wait
// on.

struct WaitBefore {
    bool operator()(const Task& a, const Task& b) const;
};

// All functions need interrupts off.
class WaitQueue {
  public:
    constexpr WaitQueue() = default;
    WaitQueue(const WaitQueue&) = delete;
    WaitQueue& operator=(const WaitQueue&) = delete;

    // Returns the most urgent waiter, or null. O(1).
    [[nodiscard]] Task* first() const { return m_tree.first(); }

    // Takes the processor from the running task, which waits here until it is woken, or until `until` (kForever:
    // without a limit; see task.timed_out). The caller schedules.
    void enter(Task& task, Wait wait, lib::Ticks until, IrqOff);

    // Takes the task out of the queue and puts it back into its ready queue. The caller schedules. Precondition: the
    // task is here.
    void wake(Task& task, IrqOff);

    // Takes the task out of the queue, and does nothing else. Precondition: the task is here.
    void remove(Task& task, IrqOff);

  private:
    lib::IntrusiveTree<Task, WaitTag, WaitBefore> m_tree;
};

} // namespace kernel
