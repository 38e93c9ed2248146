// SPDX-License-Identifier: MIT
// The ready queue of a level that promises: it tells the register of promises when work comes and goes, for the idle
// instants between. Guests stand in it as the level's own tasks do.
#pragma once

#include "kernel/admission/reservations.hpp"
#include "kernel/ready_queue.hpp"

namespace kernel {

// All functions irq-off; as those of ReadyQueue.
class PromisedQueue {
  public:
    constexpr explicit PromisedQueue(Reservations& reservations)
        : m_reservations(reservations) {}

    [[nodiscard]] Task* first() const { return m_queue.first(); }

    [[nodiscard]] bool holds(const Task& task) const { return m_queue.holds(task); }

    void insert(Task& task, std::uint64_t key) {
        m_reservations.work_came();
        m_queue.insert(task, key);
    }

    void remove(Task& task) {
        m_queue.remove(task);
        m_reservations.work_left();
    }

    void remove_if_there(Task& task) {
        if (holds(task)) {
            remove(task);
        }
    }

    void move(Task& task, std::uint64_t key) { m_queue.move(task, key); }

  private:
    Reservations& m_reservations;
    ReadyQueue m_queue;
};

} // namespace kernel
