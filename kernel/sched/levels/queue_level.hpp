// SPDX-License-Identifier: MIT
// Declares the levels without deadlines, round robin and background, and what they have in common.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/levels/level_parts.hpp"
#include "kernel/sched/ready_queue.hpp"

#include <array>

namespace kernel {

// The common part of the levels without deadlines has one job at a time, which an activation releases, and a ready
// queue in order of arrival. RoundRobinLevel adds slices, and BackgroundLevel the idle task.

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

    virtual void job_starts(Task& /*task*/) {}

    // Returns what an activation of a busy task does.
    [[nodiscard]] virtual Overlap overlap(const Task& /*task*/) const { return Overlap::refuse; }

  private:
    static void on_activation(Task& task, IrqOff);

    void release(Task& task, IrqOff);
    void finish_job(Task& task, IrqOff);

    ReadyQueue m_ready;
    std::uint64_t m_sequence = 0;
    SavedArrivals m_saved;
};

// The tasks of the lowest level run only when no other task wants the processor, first in, first out. After them comes
// the idle task, which is always ready, so that the scheduler always finds a task.

class BackgroundLevel final : public QueueLevel {
  public:
    constexpr BackgroundLevel() = default;

    [[nodiscard]] std::string_view name() const override { return "background"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override {
        return std::holds_alternative<BackgroundModel>(model);
    }

    // Makes this the task that comes after all others. Precondition: it belongs to this level and is active.
    void set_idle(Task& task, IrqOff off) {
        ASSERT(idle_task() == nullptr && task.level == this && task.state == TaskState::ready);
        leave_queue(task, off);
        set_idle_task(task, off);
    }

    [[nodiscard]] bool is_idle(const Task& task) const { return &task == idle_task(); }
};

// Round robin serves NRT tasks: the first one of the queue runs until its slice is used up, and then goes to the end
// with a fresh one. A task that is interrupted by a higher level keeps its position and the rest of its slice; a task
// that blocks comes back at the end with the rest of its slice. The slice belongs to the position in the queue: a mutex
// owner that runs on its behalf uses it up, too. A task with the policy FIFO has no slice: it keeps its position until
// it blocks or its job is complete.

class RoundRobinLevel final : public QueueLevel {
  public:
    constexpr RoundRobinLevel() = default;

    [[nodiscard]] std::string_view name() const override { return "RR"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override {
        return std::holds_alternative<NrtModel>(model);
    }

    // invalid_argument: the slice or the weight is 0.
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model, IrqOff) override;
    void create(Task& task, IrqOff) override;
    void end(Task& task, IrqOff) override;
    void slot_begin(Task& task, IrqOff) override;
    void slot_end(Task& task, lib::Ticks elapsed, IrqOff) override;

  private:
    struct Share {
        lib::Ticks slice; // 0: it has none and keeps its position
        lib::Ticks left;
        lib::Ticks begun_at;
    };

    static void slice_over(Task& task, IrqOff);

    void job_starts(Task& task) override;

    [[nodiscard]] Overlap overlap(const Task& task) const override { return model_as<NrtModel>(task.model).overlap; }

    void rotate(Task& task, IrqOff);

    std::array<Share, kTasksMax> m_shares{}; // by pid
};

} // namespace kernel
