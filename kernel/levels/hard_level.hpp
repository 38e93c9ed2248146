// SPDX-License-Identifier: MIT
// What the levels of HARD tasks have in common: jobs with a worst-case execution time and a deadline, admitted only if
// every promise of every level holds beside them. Not a policy of its own: EdfLevel and RmLevel say what goes first.
// Deadline misses, worst-case overruns and early activations are exceptions of the task (exception.hpp).
//
// One timer per task serves releases and deadlines in turn. Release k of a periodic task is at origin + k * T, computed
// anew each time, so nothing drifts; a job that overruns leaves later releases pending, they are served in order
// afterwards.
//
//      release k            deadline k      release k+1         deadline k+1
//   -------|---------------------|---------------|---------------------|------> time
//          v job ready           v miss, if not  v                     v
//            timer: deadline k     complete        timer: deadline k+1
//                                  timer: release k+1                        (job complete early: straight to release)
//
// A sporadic task is released by its activations, a period apart at least: one that comes sooner is an activation
// violation and is put off to the end of the period. One release can wait, behind the job in progress or for its time.
#pragma once

#include "kernel/admission/reservations.hpp"
#include "kernel/level.hpp"
#include "kernel/levels/promised_queue.hpp"

#include <array>

namespace kernel {

class HardLevel : public Level {
  public:
    [[nodiscard]] const Reservations* promises() const override { return &m_reservations; }

    // For guests of this level.
    [[nodiscard]] Reservations& reservations() { return m_reservations; }

    [[nodiscard]] PromisedQueue& queue() { return m_ready; }

    void prepare(const TaskModel& model) override;
    [[nodiscard]] lib::Result<void> guarantee(const TaskModel& model) override;
    [[nodiscard]] lib::Result<void> set_deadline(Task& task, lib::Nanoseconds relative) override;
    void create(Task& task) override;
    [[nodiscard]] bool refuses_activation(const Task& task) const override;
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

    // Where a task with this job stands in the queue: the smaller, the sooner.
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
        single, // one job, and the task ends
    };

    struct Promise {
        Demand demand;                        // what admission counts; period 0: not in use
        std::uint64_t latest_deadline_ns = 0; // relative, of the job released last
        std::uint64_t next_deadline_ns = 0;   // relative, of the jobs to come; never below what admission counts
        lib::Ticks wcet;
        lib::Ticks origin;      // of release 0; of a task that is not periodic: of its last release
        lib::Ticks earliest;    // of the next activation: one period after the last release, as admitted
        lib::Ticks put_off;     // not periodic: when the release that waits for its time will be
        Job job;                // in progress
        lib::Ticks used;        // processor time of the job in progress
        std::uint64_t base = 0; // jobs.released at the origin
        Kind kind = Kind::periodic;
        Awaiting awaiting = Awaiting::nothing;
        bool release_waits = false; // not periodic: at put_off
        bool violated = false;      // the job in progress has exceeded its wcet, and that was recorded
    };

    static void on_job_timer(void* task);
    static void on_capacity(void* task);

    [[nodiscard]] Promise& promise(const Task& task) { return m_promises[task.pid.value]; }

    // Of the job with this number, counted as jobs.released counts. A deadline does not change while jobs are behind
    // their release, so all that can be asked for have the latest.
    [[nodiscard]] lib::Ticks release_time(const Task& task, std::uint64_t job);
    [[nodiscard]] lib::Ticks deadline_time(const Task& task, std::uint64_t job);

    [[nodiscard]] static lib::Ticks not_long_ago(lib::Ticks at);
    void arrive(Task& task, lib::Ticks at);
    void await_deadline(Task& task);
    void await_release(Task& task);
    void release(Task& task);
    void begin_job(Task& task);
    void move_deadline(Task& task);
    void check_deadline(Task& task);
    void finish_job(Task& task);
    void violate(Task& task);

    Reservations& m_reservations;
    Claim m_claim;
    PromisedQueue m_ready;
    std::array<Promise, kTasksMax> m_promises{}; // by pid
};

} // namespace kernel
