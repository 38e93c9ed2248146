// SPDX-License-Identifier: MIT
// The lowest level: tasks that run only when nothing else wants the processor, first in first out, and behind them the
// idle task, which is always ready. Because of it the scheduler always finds somebody.
#pragma once

#include "kernel/level.hpp"

namespace kernel {

class BackgroundLevel final : public Level {
  public:
    constexpr BackgroundLevel() = default;

    [[nodiscard]] std::string_view name() const override { return "background"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override;
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model) override;
    void create(Task& task) override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at) override;
    void end_cycle(Task& task) override;
    void sleep(Task& task) override;
    void block(Task& task) override;
    void unblock(Task& task) override;
    void end(Task& task) override;
    [[nodiscard]] Task* first() const override;
    [[nodiscard]] Task* next(const Task& of) const override;

    // The task that stands behind all others. Precondition: it belongs to this level and is active.
    void set_idle(Task& task);

  private:
    lib::IntrusiveList<Task, ReadyTag> m_ready; // without the idle task
    Task* m_idle = nullptr;
};

} // namespace kernel
