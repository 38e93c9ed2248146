// SPDX-License-Identifier: MIT
// What levels without deadlines have in common: one job at a time, released by activation, and a ready queue in order
// of arrival. Not a policy of its own: RoundRobinLevel adds slices, BackgroundLevel the idle task.
#pragma once

#include "kernel/level.hpp"
#include "kernel/levels/saved_arrivals.hpp"
#include "kernel/ready_queue.hpp"

namespace kernel {

class QueueLevel : public Level {
  public:
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model) override;
    void create(Task& task) override;
    [[nodiscard]] bool refuses_activation(const Task& task) const override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at) override;
    void end_cycle(Task& task) override;
    void sleep(Task& task) override;
    void block(Task& task) override;
    void unblock(Task& task) override;
    void end(Task& task) override;
    [[nodiscard]] Task* first() const override;

  protected:
    constexpr QueueLevel() = default;
    ~QueueLevel() = default;

    // From its place to the end, if it stands in the queue.
    void move_to_end(Task& task);

    // Takes it out, if it stands in the queue.
    void leave_queue(Task& task);

    // A job starts.
    virtual void job_starts(Task& task) { static_cast<void>(task); }

    // What an activation of a busy task does.
    [[nodiscard]] virtual Overlap overlap(const Task& task) const {
        static_cast<void>(task);
        return Overlap::refuse;
    }

  private:
    static void on_activation(void* task);

    // The job starts now.
    void release(Task& task);
    void finish_job(Task& task);

    ReadyQueue m_ready;
    std::uint64_t m_sequence = 0;
    SavedArrivals m_saved;
};

} // namespace kernel
