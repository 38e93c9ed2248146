// SPDX-License-Identifier: MIT
// The lowest level: tasks that run only when nothing else wants the processor, first in first out, and behind them the
// idle task, which is always ready. Because of it the scheduler always finds somebody.
#pragma once

#include "kernel/levels/queue_level.hpp"

namespace kernel {

class BackgroundLevel final : public QueueLevel {
  public:
    constexpr BackgroundLevel() = default;

    [[nodiscard]] std::string_view name() const override { return "background"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override;
    [[nodiscard]] Task* first() const override;

    // The task that stands behind all others. Precondition: it belongs to this level and is active.
    void set_idle(Task& task);

  private:
    Task* m_idle = nullptr; // not in the queue
};

} // namespace kernel
