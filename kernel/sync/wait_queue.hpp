// SPDX-License-Identifier: MIT
// Where tasks are that have left their ready queues to wait for something: a unit, a message, a signal of a
// condition, a mutex without a protocol. The most urgent one is woken first: by the level in whose queue it ran (search
// order), then by the key of its place there (a deadline, a period, a turn), then in the order of arrival. O(log n).
//
//   ready queue --enter--> wait queue --wake--> ready queue         timeout, end and abort: waiting.hpp
//
// A place counts as it was when the task began to wait: a deadline that changes meanwhile holds from the next wait on.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/intrusive_tree.hpp"

namespace kernel {

struct WaitBefore {
    bool operator()(const Task& a, const Task& b) const;
};

// All functions irq-off.
class WaitQueue {
  public:
    constexpr WaitQueue() = default;
    WaitQueue(const WaitQueue&) = delete;
    WaitQueue& operator=(const WaitQueue&) = delete;

    // The most urgent waiter, or null. O(1).
    [[nodiscard]] Task* first() const { return m_tree.first(); }

    // The running task gives up the processor and is here until it is woken, or gives up at `until` (kForever:
    // never; see task.timed_out). The caller schedules.
    void enter(Task& task, Wait wait, lib::Ticks until, IrqOff);

    // Out of the queue and back into its ready queue. The caller schedules. Precondition: it is here.
    void wake(Task& task, IrqOff);

    // Out of the queue and nothing else. Precondition: it is here.
    void remove(Task& task, IrqOff);

  private:
    lib::IntrusiveTree<Task, WaitTag, WaitBefore> m_tree;
};

} // namespace kernel
