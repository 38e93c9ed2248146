// SPDX-License-Identifier: MIT
// The lowest level: its tasks run only when no other task wants the processor, first in, first out. After them comes
// the idle task, which is always ready, so that the scheduler always finds a task.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/levels/queue_level.hpp"

namespace kernel {

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

    // Returns whether this is the idle task. Context: any.
    [[nodiscard]] bool is_idle(const Task& task) const { return &task == idle_task(); }
};

} // namespace kernel
