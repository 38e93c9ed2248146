// SPDX-License-Identifier: MIT
// Earliest deadline first for HARD tasks: the ready job with the nearest absolute deadline runs; equal deadlines run in
// the order in which they entered the queue. A task is admitted only if the whole set stays schedulable (exact test,
// processor_demand.hpp). Deadline misses and worst-case overruns are counted and recorded; the job goes on.
//
// One timer per task serves releases and deadlines in turn. Release k is at origin + k * T, computed anew each time, so
// nothing drifts; a job that overruns leaves later releases pending, they are served in order afterwards.
//
//      release k            deadline k      release k+1         deadline k+1
//   -------|---------------------|---------------|---------------------|------> time
//          v job ready           v miss, if not  v                     v
//            timer: deadline k     complete        timer: deadline k+1
//                                  timer: release k+1                        (job complete early: straight to release)
#pragma once

#include "kernel/level.hpp"
#include "kernel/levels/processor_demand.hpp"
#include "kernel/ready_queue.hpp"

#include <array>

namespace kernel {

class EdfLevel final : public Level {
  public:
    constexpr EdfLevel() = default;

    [[nodiscard]] std::string_view name() const override { return "EDF"; }

    [[nodiscard]] bool guarantees() const override { return true; }

    [[nodiscard]] bool accepts(const TaskModel& model) const override;
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model) override;
    [[nodiscard]] lib::Result<void> set_deadline(Task& task, lib::Nanoseconds relative) override;
    void create(Task& task) override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at) override;
    void end_cycle(Task& task) override;
    void sleep(Task& task) override;
    void block(Task& task) override;
    void unblock(Task& task) override;
    void end(Task& task) override;
    [[nodiscard]] Task* first() const override;
    [[nodiscard]] std::uint64_t preemption_level(const Task& task) const override;
    void dispatch(Task& task, Behalf behalf) override;
    void epilogue(Task& task, lib::Ticks elapsed) override;

  private:
    enum class Awaiting : std::uint8_t {
        nothing,
        release,
        deadline,
    };

    struct Reservation {
        Demand demand;                        // what admission counts; period 0: not in use
        std::uint64_t latest_deadline_ns = 0; // relative, of the job released last
        std::uint64_t next_deadline_ns = 0;   // relative, of the jobs to come; never below what admission counts
        lib::Ticks wcet;
        lib::Ticks origin;      // of release 0
        lib::Ticks earliest;    // of the next activation: one period after the last release, as admitted
        lib::Ticks deadline;    // of the job in progress
        lib::Ticks used;        // processor time of the job in progress
        std::uint64_t base = 0; // jobs.released at the activation: the number of release 0
        Awaiting awaiting = Awaiting::nothing;
        bool violated = false; // the job in progress has exceeded its wcet, and that was recorded
    };

    static void on_job_timer(void* task);
    static void on_capacity(void* task);

    [[nodiscard]] Reservation& reservation(const Task& task) { return m_reservations[task.pid.value]; }

    // Whether the set is schedulable with `wanted` in the place of what `replaced` has (null: beside all).
    [[nodiscard]] bool feasible_with(const Demand& wanted, const Reservation* replaced);

    // Of the job with this number, counted as jobs.released counts. A deadline does not change while jobs are behind
    // their release, so all that can be asked for have the latest.
    [[nodiscard]] lib::Ticks release_time(const Task& task, std::uint64_t job);
    [[nodiscard]] lib::Ticks deadline_time(const Task& task, std::uint64_t job);

    void await(Task& task, Awaiting what);
    void release(Task& task);
    void begin_job(Task& task);
    void move_deadline(Task& task);
    void check_deadline(Task& task);
    void finish_job(Task& task);
    void violate(Task& task);

    ReadyQueue m_ready;                                  // key: absolute deadline in ticks
    std::array<Reservation, kTasksMax> m_reservations{}; // by pid
    std::array<Demand, kTasksMax + 1> m_demands{};       // scratch of guarantee(): too large for a stack
};

} // namespace kernel
