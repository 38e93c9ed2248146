// SPDX-License-Identifier: MIT
// HardLevel is the common part of the levels of HARD tasks: jobs have a worst-case execution time and a deadline, and
// are admitted only if every promise of every level holds beside them. EdfLevel and RmLevel decide which task goes
// first. Deadline misses, worst-case overruns and early activations are exceptions of the task (exception.hpp).
//
// One timer for each task serves releases and deadlines in turn. Release k of a periodic task is at origin + k * T,
// which is computed anew each time, so nothing drifts. A job that overruns leaves later releases pending, and they are
// served in order afterwards.
//
//      release k            deadline k      release k+1         deadline k+1
//   -------|---------------------|---------------|---------------------|------> time
//          v job ready           v miss, if not  v                     v
//            timer: deadline k     complete        timer: deadline k+1
//                                  timer: release k+1                        (job complete early: straight to release)
//
// A sporadic task is released by its activations, which are a period apart at least. An earlier one is an activation
// violation and is put off to the end of the period. One release can wait, for the job in progress or for its time.
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sched/admission/reservations.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/ready_queue.hpp"

#include <array>

namespace kernel {

// Is the ready queue of a level that promises. It informs the register of promises when work comes and goes, so that
// the register finds the idle instants. Guests are in it like the level's own tasks. All functions need interrupts off,
// and are those of ReadyQueue.
class PromisedQueue {
  public:
    constexpr explicit PromisedQueue(Reservations& reservations)
        : m_reservations(reservations) {}

    [[nodiscard]] const ReadyQueue& places() const { return m_queue; }

    [[nodiscard]] bool holds(const Task& task) const { return m_queue.holds(task); }

    void insert(Task& task, std::uint64_t key, IrqOff off) {
        m_reservations.work_came();
        m_queue.insert(task, key, off);
    }

    void remove(Task& task, IrqOff off) {
        m_queue.remove(task, off);
        m_reservations.work_left(off);
    }

    void remove_if_there(Task& task, IrqOff off) {
        if (holds(task)) {
            remove(task, off);
        }
    }

    void move(Task& task, std::uint64_t key, IrqOff off) { m_queue.move(task, key, off); }

  private:
    Reservations& m_reservations;
    ReadyQueue m_queue;
};

class HardLevel : public Level {
  public:
    [[nodiscard]] const Reservations* promises() const override { return &m_reservations; }

    // Returns the register, which the guests of this level use, too.
    [[nodiscard]] Reservations& reservations() { return m_reservations; }

    [[nodiscard]] PromisedQueue& queue() { return m_ready; }

    void prepare(const TaskModel& model) override;
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model, IrqOff) override;
    [[nodiscard]] lib::Result<void> set_deadline(Task& task, lib::Nanoseconds relative, IrqOff) override;
    void create(Task& task, IrqOff) override;
    [[nodiscard]] bool refuses_activation(const Task& task, IrqOff) const override;
    [[nodiscard]] lib::Result<void> activate(Task& task, lib::Ticks at, IrqOff) override;
    [[nodiscard]] JobEnd end_cycle(Task& task, IrqOff) override;
    [[nodiscard]] JobEnd sleep(Task& task, IrqOff) override;

    void block(Task& task, IrqOff off) override { m_ready.remove(task, off); }

    void unblock(Task& task, IrqOff) override;
    void end(Task& task, IrqOff) override;

    [[nodiscard]] const ReadyQueue* ready_queue() const override { return &m_ready.places(); }

    [[nodiscard]] std::uint64_t preemption_level(const Task& task, IrqOff) const override;
    void dispatch(Task& task, Behalf behalf, IrqOff) override;
    void epilogue(Task& task, lib::Ticks elapsed, IrqOff) override;

  protected:
    constexpr HardLevel(Reservations& reservations, Claim claim)
        : m_reservations(reservations)
        , m_claim(claim)
        , m_ready(reservations) {}

    ~HardLevel() = default;

    struct Job {
        lib::Ticks deadline;
        std::uint64_t relative_deadline_ns = 0;
    };

    // Returns the queue key of a task with this job; the smaller key goes first.
    [[nodiscard]] virtual std::uint64_t key_of(const Job& job) const = 0;

  private:
    enum class Awaiting : std::uint8_t {
        nothing,
        release,
        deadline,
    };

    enum class Kind : std::uint8_t {
        periodic,
        sporadic,
        single, // one job, after which the task ends
    };

    struct Promise {
        Demand demand;                        // what admission counts; period 0: not in use
        std::uint64_t latest_deadline_ns = 0; // relative, of the job released last
        std::uint64_t next_deadline_ns = 0;   // relative, of the jobs to come; never below what admission counts
        lib::Ticks wcet;
        lib::Ticks origin;      // of release 0, or of the last release of a task that is not periodic
        lib::Ticks earliest;    // the earliest next activation: one period after the last release, as admitted
        lib::Ticks put_off;     // if it is not periodic: the time of the release that waits
        Job job;                // in progress
        lib::Ticks used;        // processor time of the job in progress
        std::uint64_t base = 0; // jobs.released at the origin
        Kind kind = Kind::periodic;
        Awaiting awaiting = Awaiting::nothing;
        bool release_waits = false; // if it is not periodic: a release waits for put_off
        bool violated = false;      // the job in progress has exceeded its wcet, and that was recorded
    };

    static void on_job_timer(Task& task, IrqOff);
    static void on_capacity(Task& task, IrqOff);

    [[nodiscard]] Promise& promise(const Task& task) { return m_promises[task.pid.value]; }

    // Return the times of the job with this number, counted as jobs.released counts. A deadline does not change while
    // releases are pending, so all jobs that can be asked for have the latest one.
    [[nodiscard]] lib::Ticks release_time(const Task& task, std::uint64_t job);
    [[nodiscard]] lib::Ticks deadline_time(const Task& task, std::uint64_t job);

    [[nodiscard]] static lib::Ticks not_long_ago(lib::Ticks at);
    void arrive(Task& task, lib::Ticks at, IrqOff);
    void await_deadline(Task& task, IrqOff);
    void await_release(Task& task, IrqOff);
    void release(Task& task, IrqOff);
    void begin_job(Task& task, IrqOff);
    void move_deadline(Task& task, IrqOff);
    void check_deadline(Task& task, IrqOff);
    void report_late_job(Task& task, IrqOff);
    void finish_job(Task& task, IrqOff);
    void violate(Task& task, IrqOff);

    Reservations& m_reservations;
    Claim m_claim;
    PromisedQueue m_ready;
    std::array<Promise, kTasksMax> m_promises{}; // by pid
};

// EdfLevel is earliest deadline first, for HARD tasks with dynamic priority and for single guaranteed jobs: the ready
// job with the nearest absolute deadline runs; equal deadlines run in the order in which they entered the queue. CBS
// and GRUB tasks are guests: they are in this queue with their server's deadline.
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

// RmLevel has fixed priorities for HARD tasks: a shorter relative deadline is a higher priority, which is rate
// monotonic where deadlines are periods. Equal deadlines run in the order in which they entered the queue. The front
// task of a polling or deferrable server is a guest with the priority of the server's period.
// Sources: Liu, Layland, "Scheduling algorithms for multiprogramming in a hard-real-time environment" (1973); Leung,
// Whitehead, "On the complexity of fixed-priority scheduling of periodic, real-time tasks" (1982).
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
