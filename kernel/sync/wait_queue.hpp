// SPDX-License-Identifier: MIT
// A wait queue has the tasks that have left their ready queues to wait for something: a unit, a message, a signal of a
// condition, a mutex without a protocol. The most urgent one is woken first: by the level in whose queue it ran (search
// order), then by the key of its position there (a deadline, a period, a turn), then in the order of arrival. O(log n).
//
//   ready queue --enter--> wait queue --wake--> ready queue         timeout, end and abort: waiting.hpp
//
// A position counts as it was when the task began to wait: a deadline that changes meanwhile holds from the next wait
// on.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/intrusive_tree.hpp"

namespace kernel {

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

    // The running task gives up the processor and waits here until it is woken, or until `until` (kForever: without a
    // limit; see task.timed_out). The caller schedules.
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
