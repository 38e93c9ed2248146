// SPDX-License-Identifier: MIT
// Fixed priorities for HARD tasks: a shorter relative deadline is a higher priority, which is rate monotonic where
// deadlines are periods. Equal deadlines run in the order in which they entered the queue. The front task of a polling
// or deferrable server is a guest with the priority of the server's period.
// Sources: Liu, Layland, "Scheduling algorithms for multiprogramming in a hard-real-time environment" (1973); Leung,
// Whitehead, "On the complexity of fixed-priority scheduling of periodic, real-time tasks" (1982).
#pragma once

#include "kernel/sched/levels/hard_level.hpp"

namespace kernel {

class RmLevel final : public HardLevel {
  public:
    constexpr explicit RmLevel(Reservations& reservations)
        : HardLevel(reservations, Claim::fixed) {}

    [[nodiscard]] std::string_view name() const override { return "RM"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override {
        const auto* const hard = std::get_if<HardModel>(&model);
        return hard != nullptr && hard->priority == HardPriority::fixed;
    }

  private:
    [[nodiscard]] std::uint64_t key_of(const Job& job) const override { return job.relative_deadline_ns; }
};

} // namespace kernel
