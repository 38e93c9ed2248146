// SPDX-License-Identifier: MIT
// GRUB is the greedy reclamation of unused bandwidth. Its servers are those of CBS, but the budget falls only by Uact *
// dt, where Uact is the share of the processor that is active. HARD tasks and CBS servers are always active; a GRUB
// server is active from its work on until its zero-lag time, at which it has made up for the budget that it had.
// Bandwidth that others do not use thus makes budgets last longer, and no promise is broken by it. Sources: Lipari,
// Baruah, "Greedy reclamation of unused bandwidth in constant-bandwidth servers" (2000); Abeni, Lipari, Parri, Sun,
// "Multicore CPU reclaiming: parallel or sequential?" (2016), section 3.
//
//             work                 zero-lag time d - c * T / Q
//   inactive -----> competing --> lagging -------> inactive           its share of Uact: none | Q/T | Q/T | none
//                       ^--- work ---'
//
// The theorem requires deadlines that are periods. A promise with an earlier deadline, and one that runs above EDF,
// counts with more than its bandwidth (Reservations::load()); where all together might exceed the processor, nothing is
// reclaimed.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/levels/soft_level.hpp"

namespace kernel {

class GrubLevel final : public SoftLevel, private Reclaimer, private LoadWatcher {
  public:
    constexpr explicit GrubLevel(HardLevel& host)
        : SoftLevel(host, ServerKind::grub, this) {}

    [[nodiscard]] std::string_view name() const override { return "GRUB"; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override;
    void create(Task& task, IrqOff) override;
    void end(Task& task, IrqOff) override;

  private:
    static void on_zero_lag(Task& task, IrqOff);

    [[nodiscard]] lib::Ticks cost(lib::Ticks elapsed) const override;
    [[nodiscard]] lib::Ticks lasts(lib::Ticks budget) const override;
    void compete(Task& task, IrqOff) override;
    void rest(Task& task, IrqOff) override;

    void load_changed(IrqOff off) override { update(off); }

    void deactivate(Task& task, IrqOff);

    // Must be called when Uact may have changed: the running task pays for the time before at the old rate.
    void update(IrqOff);

    std::uint64_t m_inactive = 0; // the bandwidth of all inactive servers
    std::uint32_t m_servers_alive = 0;
    std::uint32_t m_active = 0; // Uact, as charged now
};

} // namespace kernel
