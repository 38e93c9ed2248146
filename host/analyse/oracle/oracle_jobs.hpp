// SPDX-License-Identifier: MIT
// The theory of jobs judges when jobs are released and due, which of them are late, which run longer than declared, and
// what happens to activations of a busy task. It has one account for each task.
#pragma once

#include "host/analyse/oracle/theory.hpp"
#include "host/trace/event.hpp"

#include <deque>

namespace host::analyse::oracle {

class Jobs : public Theory {
  public:
    using Theory::Theory;

    // Events of other codes have no effect.
    static constexpr const auto& kConcerns =
        trace::kAnyOf<"task_create", "task_end", "task_activate", "task_timer", "job_release", "job_deadline",
                      "deadline_change", "task_end_cycle", "job_abort", "task_disable", "task_deadline_miss",
                      "task_wcet_violation", "activation_violation", "job_skipped", "job_queued", "task_schedule">;

    void event(const trace::Event& event);
    void ran(const Interval& interval);

    void forget() { m_accounts.clear(); }

  private:
    struct Account {
        // These concern releases:
        std::optional<std::uint64_t> last_release;
        std::optional<std::uint64_t> origin; // time of release 0 of this activation
        std::uint64_t number = 0;            // number of the last release, counted from the origin
        std::uint64_t activations = 0;       // activations since the last release: they may be for a later time
        bool resting = false;                // it was created or disabled and has not been activated since
        // These concern the job in progress:
        bool in_progress = false;
        bool idle = false;                       // it is known to have no job
        std::optional<std::uint64_t> relative;   // relative deadline, from its release and its deadline
        std::optional<std::uint64_t> changed_us; // relative deadline of the latest deadline_change
        bool whole = false;                      // everything since the creation of the task is known
        bool backlog_known = false;              // so is which jobs wait until the one in progress ends
        // These concern misses:
        std::uint64_t last_timer = 0;          // stamp of the latest release by task_timer, which may have been dropped
        std::deque<std::uint64_t> outstanding; // stamps of the releases by task_timer whose jobs are not complete
        std::uint64_t reports = 0;             // how many misses were reported for jobs that are not complete
        bool owes_miss = false;                // a job has ended late, and no miss has been reported
        std::optional<std::uint64_t> ended_due; // deadline of a job that has just ended without a miss
        // These concern costs:
        bool measured = false; // the whole job has been measured since its release
        std::uint64_t used = 0;
        std::uint64_t intervals = 0;
        bool overrun_reported = false;
        // These concern activations:
        std::uint64_t saved = 0;
        bool saved_known = false;
        bool owes_release = false;
        bool owes_answer = false; // a sporadic task was activated too early, which an event must report

        // Returns whether it has neither a job nor an activation for a later time.
        [[nodiscard]] bool rests() const { return idle && activations == 0; }
    };

    void begin_task(const trace::Event& event);
    void note_timer(const trace::Event& event);
    void activate(const trace::Event& event);
    void release(const trace::Event& event);
    [[nodiscard]] bool is_late(std::uint64_t due) const;
    void judge_moment(const trace::Event& event, std::uint64_t release);
    [[nodiscard]] std::uint64_t period_of(const Account& account, const Task& task) const;
    void judge_period(Account& account, const Task& task, std::uint64_t period_ns, std::uint64_t release);
    void due(const trace::Event& event);
    void judge_changed(const Account& account, const Task& task, std::uint64_t deadline);
    void judge_relative(Account& account, const Task& task, std::uint64_t deadline, bool changed);
    void end_job(const trace::Event& event);
    void disable(const trace::Event& event);
    void end_task(const trace::Event& event);
    void judge_cost(const Account& account, const Task& task);
    void fail_cost(const Task& task, std::uint64_t used, std::uint64_t wcet);
    void miss(const trace::Event& event);
    void overrun(const trace::Event& event);
    void early(const trace::Event& event);
    void skipped(const trace::Event& event);
    void queued(const trace::Event& event);
    void settle(const trace::Event& event);
    void settle_cost(Account& account, const Task& task, std::uint64_t now);
    void settle_misses(Account& account, const Task& task, std::uint64_t now);

    // States how many incomplete jobs are due by a time, at least and at most.
    struct Due {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
    };

    [[nodiscard]] Due due_by(const Account& account, const Task& task, std::uint64_t time) const;
    [[nodiscard]] bool is_hard(const Task& task) const;

    trace::NumberMap<Account> m_accounts; // by context
    std::uint64_t m_in_time = 0;          // how many releases were not recorded before their time
    std::uint16_t m_released = 0;         // the task of the latest job_release, to which the next job_deadline belongs
};

} // namespace host::analyse::oracle
