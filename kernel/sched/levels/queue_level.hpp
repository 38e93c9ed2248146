// SPDX-License-Identifier: MIT
// The common part of the levels without deadlines: one job at a time, which an activation releases, and a ready queue
// in order of arrival. RoundRobinLevel adds slices, and BackgroundLevel the idle task.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/levels/saved_arrivals.hpp"
#include "kernel/sched/ready_queue.hpp"

namespace kernel {

class QueueLevel : public Level {
  public:
    // The level promises nothing, so it never refuses a task.
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& /*model*/, IrqOff) override { return {}; }

    void create(Task& task, IrqOff) override;
    [[nodiscard]] bool refuses_activation(const Task& task, IrqOff) const override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at, IrqOff) override;
    [[nodiscard]] JobEnd end_cycle(Task& task, IrqOff) override;
    [[nodiscard]] JobEnd sleep(Task& task, IrqOff) override;

    void block(Task& task, IrqOff off) override { m_ready.remove(task, off); }

    void unblock(Task& task, IrqOff) override;
    void end(Task& task, IrqOff) override;

    [[nodiscard]] const ReadyQueue* ready_queue() const override { return &m_ready; }

  protected:
    constexpr QueueLevel() = default;
    ~QueueLevel() = default;

    // Moves the task from its position to the end, if it is in the queue.
    void move_to_end(Task& task, IrqOff);

    // Takes the task out of the queue, if it is in it.
    void leave_queue(Task& task, IrqOff off) { m_ready.remove_if_there(task, off); }

    // Is called when a job starts.
    virtual void job_starts(Task& /*task*/) {}

    // Returns what an activation of a busy task does.
    [[nodiscard]] virtual Overlap overlap(const Task& /*task*/) const { return Overlap::refuse; }

  private:
    static void on_activation(Task& task, IrqOff);

    // The task's job starts now.
    void release(Task& task, IrqOff);
    void finish_job(Task& task, IrqOff);

    ReadyQueue m_ready;
    std::uint64_t m_sequence = 0;
    SavedArrivals m_saved;
};

} // namespace kernel
