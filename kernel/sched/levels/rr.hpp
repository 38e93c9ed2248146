// SPDX-License-Identifier: MIT
// Round robin for NRT tasks: the first one of the queue runs until its slice is used up, and then goes to the end with
// a fresh one. A task that is interrupted by a higher level keeps its position and the rest of its slice; a task that
// blocks comes back at the end with the rest of its slice. The slice belongs to the position in the queue: a mutex
// owner that runs on its behalf uses it up, too. A task with the policy FIFO has no slice: it keeps its position until
// it blocks or its job is complete.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/levels/queue_level.hpp"

#include <array>

namespace kernel {

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
