// SPDX-License-Identifier: MIT
// SOFT tasks that have a constant bandwidth server each, by the rules of soft_level.hpp.
#pragma once

#include "kernel/sched/levels/soft_level.hpp"

namespace kernel {

class CbsLevel final : public SoftLevel {
  public:
    constexpr explicit CbsLevel(HardLevel& host)
        : SoftLevel(host, ServerKind::cbs, nullptr) {}

    [[nodiscard]] std::string_view name() const override { return "CBS"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override {
        const auto* const soft = std::get_if<SoftModel>(&model);
        return soft != nullptr && soft->reclaiming == Reclaiming::none;
    }
};

} // namespace kernel
