// SPDX-License-Identifier: MIT
// The ready queue of a scheduling level holds the positions of tasks, the smallest key first, equal keys in the order
// in which they came. The level decides what a key means: a deadline, a relative deadline, a sequence number. A task
// that belongs to one level may be in the queue of another, as its guest.
//
// A position whose chain of shadows ends in a task that cannot run is *parked* at that task by the scheduler. It is out
// of the tree, and still has its key and its rank among equals, until that task gets a position itself or the chain
// changes. So the search for the next task never passes over the same useless positions twice.
//
//   in no queue --insert--> queued <--park / unpark--> parked      remove: from both, back to "in no queue"
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/intrusive_tree.hpp"

namespace kernel {

struct ReadyBefore {
    bool operator()(const Task& a, const Task& b) const {
        return a.ready_key != b.ready_key ? a.ready_key < b.ready_key : a.ready_rank < b.ready_rank;
    }
};

namespace detail {

// Ranks are counted across all queues, so that a guest keeps its rank in whatever queue it is.
inline constinit std::uint64_t last_rank = 0;

void unpark_all(Task& end, IrqOff);

} // namespace detail

// Returns how many positions were given so far in all queues, moved ones included. Context: irq-off.
[[nodiscard]] inline std::uint64_t places_given(IrqOff) {
    return detail::last_rank;
}

// All functions need interrupts off, and take O(log n) unless they state something else.
class ReadyQueue {
  public:
    constexpr ReadyQueue() = default;
    ReadyQueue(const ReadyQueue&) = delete;
    ReadyQueue& operator=(const ReadyQueue&) = delete;

    // Returns the task of the first position that is not parked, or null. O(1).
    [[nodiscard]] Task* first() const { return m_tree.first(); }

    // Inserts the task after its equals. The positions that are parked at this task are queued again. Precondition: the
    // task is in no queue.
    void insert(Task& task, std::uint64_t key, IrqOff);

    // Removes the task. Precondition: it has a position in this queue, queued or parked.
    void remove(Task& task, IrqOff);

    // Removes the task if it has a position in this queue.
    void remove_if_there(Task& task, IrqOff);

    // Gives the task another key, after its new equals; it is parked no longer. Precondition: it has a position in this
    // queue.
    void move(Task& task, std::uint64_t key, IrqOff);

    [[nodiscard]] bool holds(const Task& task) const { return task.ready_in == this; }

  private:
    friend void park(Task& task, Task& end, IrqOff);
    friend void detail::unpark_all(Task& end, IrqOff);
    friend void park_suspended(Task& task, IrqOff);

    [[gnu::noinline]] void insert_and_park(Task& task, IrqOff);

    lib::IntrusiveTree<Task, ReadyTag, ReadyBefore> m_tree;
};

// Takes a queued position out of the tree, because its chain of shadows ends in `end`, which cannot run.
void park(Task& task, Task& end, IrqOff);

// Parks the position of a suspended task at itself: it does not count until the task is resumed. Precondition: the task
// has a position.
void park_suspended(Task& task, IrqOff);

// Puts the positions back that are parked at `end`, because it can run or their chains may have changed. It takes O(log
// n) for each; there are some only if a task suspended itself while it owned a mutex that others wait for.
inline void unpark(Task& end, IrqOff off) {
    if (!end.parked_here.empty()) {
        detail::unpark_all(end, off);
    }
}

} // namespace kernel
