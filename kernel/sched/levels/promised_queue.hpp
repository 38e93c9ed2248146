// SPDX-License-Identifier: MIT
// The ready queue of a level that promises. It informs the register of promises when work comes and goes, for the idle
// instants between. Guests are in it like the level's own tasks.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/admission/reservations.hpp"
#include "kernel/sched/ready_queue.hpp"

namespace kernel {

// All functions need interrupts off, and are those of ReadyQueue.
class PromisedQueue {
  public:
    constexpr explicit PromisedQueue(Reservations& reservations)
        : m_reservations(reservations) {}

    [[nodiscard]] const ReadyQueue& places() const { return m_queue; }

    [[nodiscard]] bool holds(const Task& task) const { return m_queue.holds(task); }

    void insert(Task& task, std::uint64_t key, IrqOff off) {
        m_reservations.work_came();
        m_queue.insert(task, key, off);
    }

    void remove(Task& task, IrqOff off) {
        m_queue.remove(task, off);
        m_reservations.work_left(off);
    }

    void remove_if_there(Task& task, IrqOff off) {
        if (holds(task)) {
            remove(task, off);
        }
    }

    void move(Task& task, std::uint64_t key, IrqOff off) { m_queue.move(task, key, off); }

  private:
    Reservations& m_reservations;
    ReadyQueue m_queue;
};

} // namespace kernel
