// SPDX-License-Identifier: MIT
// The ready queue of a scheduling level: places of tasks, the smallest key first, equal keys in the order in which they
// came. What a key means is the level's business: a deadline, a relative deadline, a sequence number. A task that
// belongs to one level may be in the queue of another, as its guest.
//
// A place whose chain of shadows ends in a task that cannot run is *parked* at that task by the scheduler: out of the
// tree, yet still a place with its key and its rank among equals, until that task gets a place itself or the chain
// changes. So looking for the next task never passes over the same useless places twice.
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

// Across all queues, so that a guest keeps its rank in whatever queue it is.
inline constinit std::uint64_t last_rank = 0;

void unpark_all(Task& end, IrqOff);

} // namespace detail

// How many places were given so far, in all queues, moved ones included. irq-off.
[[nodiscard]] inline std::uint64_t places_given(IrqOff) {
    return detail::last_rank;
}

// All functions irq-off, O(log n) unless stated.
class ReadyQueue {
  public:
    constexpr ReadyQueue() = default;
    ReadyQueue(const ReadyQueue&) = delete;
    ReadyQueue& operator=(const ReadyQueue&) = delete;

    // The first place that is not parked, or null. O(1).
    [[nodiscard]] Task* first() const { return m_tree.first(); }

    // After its equals. What is parked at this task is queued again. Precondition: the task is in no queue.
    void insert(Task& task, std::uint64_t key, IrqOff);

    // Precondition: the task has a position in this queue, queued or parked.
    void remove(Task& task, IrqOff);

    // remove() if the task has a place in this queue.
    void remove_if_there(Task& task, IrqOff);

    // Another key, after its new equals; parked no longer. Precondition: the task has a position in this queue.
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

// The position of a suspended task is parked at itself: it does not count until the task is resumed. Precondition: the
// task has a place.
void park_suspended(Task& task, IrqOff);

// Puts the places back that are parked at `end`: it can run, or their chains may have changed. O(log n) for each; there
// are some only if a task suspended itself while it owned a mutex that others wait for.
inline void unpark(Task& end, IrqOff off) {
    if (!end.parked_here.empty()) {
        detail::unpark_all(end, off);
    }
}

} // namespace kernel
