// SPDX-License-Identifier: MIT
// The ready queue of a scheduling level: places of tasks, the smallest key first, equal keys in the order in which they
// came. What a key means is the level's business: a deadline, a relative deadline, a sequence number. A task that
// belongs to one level may stand in the queue of another, as its guest.
//
// A place whose chain of shadows ends in a task that cannot run is *parked* at that task by the scheduler: out of the
// tree, yet still a place with its key and its rank among equals, until that task gets a place itself or the chain
// changes. So looking for the next task never passes over the same useless places twice.
//
//   in no queue --insert--> standing <--park / unpark--> parked      remove: from both, back to "in no queue"
#pragma once

#include "kernel/task_object.hpp"
#include "lib/intrusive_tree.hpp"

namespace kernel {

struct ReadyBefore {
    bool operator()(const Task& a, const Task& b) const {
        return a.ready_key != b.ready_key ? a.ready_key < b.ready_key : a.ready_rank < b.ready_rank;
    }
};

// All functions irq-off, O(log n) unless stated.
class ReadyQueue {
  public:
    constexpr ReadyQueue() = default;
    ReadyQueue(const ReadyQueue&) = delete;
    ReadyQueue& operator=(const ReadyQueue&) = delete;

    // The first place that is not parked, or null. O(1).
    [[nodiscard]] Task* first() const { return m_tree.first(); }

    // Behind its equals. What is parked at this task stands again. Precondition: the task stands in no queue.
    void insert(Task& task, std::uint64_t key);

    // Precondition: the task has a place in this queue, standing or parked.
    void remove(Task& task);

    // remove() if the task has a place in this queue.
    void remove_if_there(Task& task);

    // Another key, behind its new equals; parked no longer. Precondition: the task has a place in this queue.
    void move(Task& task, std::uint64_t key);

    [[nodiscard]] bool holds(const Task& task) const { return task.ready_in == this; }

  private:
    friend void park_irq_off(Task& task, Task& end);
    friend void unpark_irq_off(Task& end);
    friend void leave_line_irq_off(Task& task);

    lib::IntrusiveTree<Task, ReadyTag, ReadyBefore> m_tree;
};

// Takes a standing place out of sight, because its chain of shadows ends in `end`, which cannot run.
void park_irq_off(Task& task, Task& end);

// The place of a suspended task is parked at itself: it counts for nobody until the task is resumed. Precondition: the
// task has a place.
void leave_line_irq_off(Task& task);

// Puts the places back that are parked at `end`: it can run, or their chains may have changed. O(log n) for each; there
// are some only if a task suspended itself while it owned a mutex that others wait for.
void unpark_irq_off(Task& end);

} // namespace kernel
