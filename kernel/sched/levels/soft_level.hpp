// SPDX-License-Identifier: MIT
// Declares the constant bandwidth server for SOFT tasks (CbsLevel), and what GRUB has in common with it. Each task has
// a server of its own with a budget Q in each period T, and is in the queue of the EDF level with the server's
// deadline. A job that wants more than Q continues later, by a later deadline; so a task can never take more than Q / T
// from the others, whatever it does, and the whole is admitted like a HARD task (Q, T). Source: Abeni, Buttazzo,
// "Integrating multimedia applications in hard real-time systems" (1998).
//
//   work for an idle server at t:  c * T >= (d - t) * Q, or d <= t:   d = t + T, c = Q       else both are kept
//   budget used up, c = 0:         c = Q, d = d + T, the position moves
//
// A task that blocks leaves its server idle. The same rule applies when it comes back, because time that it did not use
// is lost. The budget belongs to the position in the queue: a mutex owner that runs in it uses it up. Time that it runs
// over until the timer fires is taken off the next budget.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/admission/reservations.hpp"
#include "kernel/sched/levels/hard_level.hpp"
#include "kernel/sched/levels/level_parts.hpp"
#include "kernel/sched/server.hpp"

#include <array>

namespace kernel {

// Has the functions in which GRUB differs. They need interrupts off.
class Reclaimer {
  public:
    Reclaimer(const Reclaimer&) = delete;
    Reclaimer& operator=(const Reclaimer&) = delete;

    // Return what running for this time costs of the budget, and how long this much budget lasts.
    [[nodiscard]] virtual lib::Ticks cost(lib::Ticks elapsed) const = 0;
    [[nodiscard]] virtual lib::Ticks lasts(lib::Ticks budget) const = 0;

    // compete(): the task's server is about to get work. rest(): it has no more.
    virtual void compete(Task& task, IrqOff) = 0;
    virtual void rest(Task& task, IrqOff) = 0;

  protected:
    constexpr Reclaimer() = default;
    ~Reclaimer() = default;
};

class SoftLevel : public Level {
  public:
    [[nodiscard]] const Reservations* promises() const override { return m_host.promises(); }

    void prepare(const TaskModel& model) override;
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model, IrqOff) override;
    void create(Task& task, IrqOff) override;
    [[nodiscard]] bool refuses_activation(const Task& task, IrqOff) const override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at, IrqOff) override;
    [[nodiscard]] JobEnd end_cycle(Task& task, IrqOff) override;
    [[nodiscard]] JobEnd sleep(Task& task, IrqOff) override;
    void block(Task& task, IrqOff) override;
    void unblock(Task& task, IrqOff) override;
    void end(Task& task, IrqOff) override;

    [[nodiscard]] std::uint64_t preemption_level(const Task& task, IrqOff) const override;

    [[nodiscard]] std::uint16_t queue_index() const override { return m_host.index(); }

    [[nodiscard]] std::uint64_t unparked(Task& task, IrqOff) override;
    void slot_begin(Task& task, IrqOff) override;
    void slot_end(Task& task, lib::Ticks elapsed, IrqOff) override;

  protected:
    // The reclaimer is null, or outlives the level.
    constexpr SoftLevel(HardLevel& host, ServerKind kind, Reclaimer* reclaimer)
        : m_host(host)
        , m_kind(kind)
        , m_reclaimer(reclaimer) {}

    ~SoftLevel() = default;

    enum class Contention : std::uint8_t {
        inactive,  // its bandwidth is free for others
        lagging,   // it has no work, but what it had is not yet made up for: GRUB alone
        competing, // it has work
    };

    struct Server {
        std::uint16_t id = 0; // 0: no such server
        Contention contention = Contention::inactive;
        bool periodic = false;
        std::uint32_t bandwidth = 0;
        lib::Ticks budget; // Q
        lib::Ticks period; // T
        std::uint64_t period_ns = 0;
        lib::Ticks left; // c
        lib::Ticks deadline;
        lib::Ticks debt;     // ran over, not yet taken off a budget
        lib::Ticks begun_at; // of the slot, or of the part of it that is not yet counted
        lib::Ticks origin;   // periodic: of release 0
        std::uint64_t releases = 0;
    };

    [[nodiscard]] Server& server(const Task& task) { return m_servers[task.pid.value]; }

    [[nodiscard]] HardLevel& host() { return m_host; }

    // Charge the time that the running slot has used up to now, and watch for the end of what is left of the budget.
    void charge(Task& task, Server& own, IrqOff);
    void arm(Task& task, const Server& own, IrqOff);

  private:
    static void on_release(Task& task, IrqOff);
    static void on_exhausted(Task& task, IrqOff);

    [[nodiscard]] lib::Ticks release_time(const Server& server) const;
    void release(Task& task, lib::Ticks at, IrqOff);
    void start(Task& task, Server& own, lib::Ticks at, IrqOff);
    void begin_job(Task& task, const Server& own, lib::Ticks at, IrqOff);
    void finish_job(Task& task, IrqOff);
    [[nodiscard]] static bool outdated(const Server& own, lib::Ticks time);
    static void wake(const Task& task, Server& own);
    void exhaust(Task& task, Server& own, IrqOff);
    void compete(Task& task, IrqOff);
    void rest(Task& task, IrqOff);
    void work_again(Task& task, IrqOff);

    // These are functions of their own, so that their callers save no register for a server that does not reclaim.
    [[gnu::noinline]] void unblock_reclaiming(Task& task, IrqOff);
    [[gnu::noinline]] void arm_reclaiming(Task& task, const Server& own, IrqOff);

    HardLevel& m_host;
    ServerKind m_kind;
    Reclaimer* m_reclaimer;                    // null: a budget falls as time passes
    std::array<Server, kTasksMax> m_servers{}; // by pid
    SavedArrivals m_saved;
};

// Schedules SOFT tasks that have a constant bandwidth server each, without reclaiming.
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
