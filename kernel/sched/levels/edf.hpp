// SPDX-License-Identifier: MIT
// Earliest deadline first, for HARD tasks with dynamic priority and for single guaranteed jobs: the ready job with the
// nearest absolute deadline runs; equal deadlines run in the order in which they entered the queue. CBS and GRUB tasks
// are guests: they are in this queue with their server's deadline.
#pragma once

#include "kernel/sched/levels/hard_level.hpp"

namespace kernel {

class EdfLevel final : public HardLevel {
  public:
    constexpr explicit EdfLevel(Reservations& reservations)
        : HardLevel(reservations, Claim::deadline) {}

    [[nodiscard]] std::string_view name() const override { return "EDF"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override {
        const auto* const hard = std::get_if<HardModel>(&model);
        return std::holds_alternative<JobModel>(model) || (hard != nullptr && hard->priority == HardPriority::dynamic);
    }

  private:
    [[nodiscard]] std::uint64_t key_of(const Job& job) const override { return job.deadline.value; }
};

} // namespace kernel
