// SPDX-License-Identifier: MIT
// Late jobs and overruns: the kernel must report each of them exactly once. It checks a deadline once, at its time: it
// reports a late job once, and each job that waits after that one when it is due.
#include "host/analyse/oracle/oracle_jobs.hpp"
#include "host/text/format.hpp"

#include <algorithm>

namespace host::analyse::oracle {

void Jobs::ran(const Interval& interval) {
    Account& account = m_accounts[interval.shadow];
    account.used += interval.ticks();
    ++account.intervals;
}

// Only the deadline of the job in progress is known. A job after it, whose release was recorded, is due at most one
// period after its release, because the releases of a sporadic task may be any time apart.
Jobs::Due Jobs::due_by(const Account& account, const Task& task, std::uint64_t time) const {
    Due due;
    if (!account.in_progress) {
        due.most = account.outstanding.size(); // until the one before it has ended, a job that waits is not released
        return due;
    }
    if (!task.deadline || !task.release) {
        return due;
    }
    due.least = *task.deadline <= time ? 1U : 0U;
    due.most = *task.deadline <= time + timing().granule ? 1U : 0U; // the stamp may be too early by that
    if (account.outstanding.size() > 1) {
        const auto after = std::next(account.outstanding.begin());
        const std::uint64_t period = model().to_ticks(task.parameters.period_ns);
        due.least +=
            time >= period
                ? static_cast<std::uint64_t>(std::upper_bound(after, account.outstanding.end(), time - period) - after)
                : 0U;
        due.most += account.outstanding.size() - 1;
    }
    return due;
}

void Jobs::miss(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    const Task* const task = model().find(event.par1);
    if (account.owes_miss || (account.ended_due && *account.ended_due <= event.ticks.value)) {
        account.owes_miss = false;
        account.ended_due.reset();
        verdicts().pass(Rule::deadline_miss);
        return;
    }
    if (task == nullptr || !model().jobs_recorded() || !is_hard(*task) || !model().timed() ||
        (!account.in_progress && !account.idle) ||
        (account.in_progress && (!task->deadline || !task->release || task->deadline_slack != 0))) {
        verdicts().undecided(Rule::deadline_miss);
        return;
    }
    ++account.reports;
    if (!account.backlog_known && account.reports > due_by(account, *task, event.ticks.value).most) {
        --account.reports;
        verdicts().undecided(Rule::deadline_miss); // it may be of a job that waits for the one in progress
        return;
    }
    if (account.in_progress && account.backlog_known && account.reports == 1 && is_late(*task->deadline)) {
        verdicts().fail(Rule::deadline_miss, event.par1,
                        fmt::format("a miss of {} is only reported at {} ticks, its job was due at {}",
                                    model().name(event.par1), event.ticks.value, *task->deadline));
        return;
    }
    verdicts().judge(
        Rule::deadline_miss, account.reports <= due_by(account, *task, event.ticks.value).most, event.par1, [&] {
            return account.in_progress ? fmt::format("a miss of {} is reported at {} ticks, its job is due at {}",
                                                     model().name(event.par1), event.ticks.value, *task->deadline)
                                       : fmt::format("a miss of {} is reported, but no job of it is incomplete",
                                                     model().name(event.par1));
        });
    account.reports = std::min(account.reports, due_by(account, *task, event.ticks.value).most);
}

void Jobs::end_job(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    if (account.idle) {
        return; // an aborted job has two records: of its abortion and of its end
    }
    const Task* const task = model().find(event.par1);
    const bool judged = task != nullptr && is_hard(*task) && account.in_progress && model().timed();
    if (judged && task->deadline && task->deadline_slack == 0 && account.reports == 0) {
        account.ended_due = task->deadline; // an aborted job ends at the end of its cycle, which is recorded later
        account.owes_miss =
            timing().judged && account.backlog_known && *task->deadline + timing().tolerance < event.ticks.value;
    }
    if (judged) {
        judge_cost(account, *task);
    }
    account.reports = account.reports > 0 ? account.reports - 1 : 0;
    if (!account.outstanding.empty()) {
        account.outstanding.pop_front();
    }
    account.in_progress = false;
    account.idle = true;
    account.owes_release = account.saved > 0;
    account.measured = false;
}

void Jobs::judge_cost(const Account& account, const Task& task) {
    if (!account.measured || task.parameters.wcet_ns == 0) {
        return;
    }
    if (!timing().judged) {
        verdicts().undecided(Rule::wcet_violation);
        return;
    }
    const std::uint64_t wcet = model().to_ticks(task.parameters.wcet_ns);
    const std::uint64_t slack = timing().tolerance * (account.intervals + 1);
    if (account.overrun_reported || account.used <= wcet + slack) {
        verdicts().pass(Rule::wcet_violation);
    } else {
        fail_cost(task, account.used, wcet);
    }
}

void Jobs::fail_cost(const Task& task, std::uint64_t used, std::uint64_t wcet) {
    verdicts().fail(Rule::wcet_violation, task.context,
                    fmt::format("a job of {} ran {} ticks, its worst case is {}, and no overrun was recorded",
                                model().name(task.context), used, wcet));
}

// The job in progress ends with its task; it may already be late or have run longer than declared.
void Jobs::end_task(const trace::Event& event) {
    Account* const account = m_accounts.find(event.par1);
    const Task* const task = model().find(event.par1);
    if (account != nullptr && task != nullptr && is_hard(*task) && model().timed()) {
        settle_misses(*account, *task, event.ticks.value);
        if (account->in_progress) {
            judge_cost(*account, *task);
        }
    }
    m_accounts.erase(event.par1);
}

void Jobs::overrun(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    const Task* const task = model().find(event.par1);
    if (task == nullptr || !task->described || !account.measured || !model().timed() || !timing().judged) {
        verdicts().undecided(Rule::wcet_violation);
        return;
    }
    const std::uint64_t used = account.used + so_far(event.par1, 0, event.ticks.value, true);
    const std::uint64_t wcet = model().to_ticks(task->parameters.wcet_ns);
    const bool in_time = used + timing().tolerance * (account.intervals + 1) >= wcet;
    verdicts().judge(Rule::wcet_violation, !account.overrun_reported && in_time, event.par1, [&] {
        return account.overrun_reported
                   ? fmt::format("an overrun of the same job of {} is reported twice", model().name(event.par1))
                   : fmt::format("an overrun of {} is reported after {} ticks, its worst case is {}",
                                 model().name(event.par1), used, wcet);
    });
    account.overrun_reported = true;
}

void Jobs::settle_misses(Account& account, const Task& task, std::uint64_t now) {
    if (account.owes_miss) {
        verdicts().fail(
            Rule::deadline_miss, task.context,
            fmt::format("a job of {} ended after its deadline, and no miss was recorded", model().name(task.context)));
    } else if (timing().judged && account.in_progress && account.backlog_known && task.deadline &&
               task.deadline_slack == 0) {
        const std::uint64_t least =
            due_by(account, task, now > timing().tolerance ? now - timing().tolerance : 0).least;
        if (least > account.reports) {
            verdicts().fail(
                Rule::deadline_miss, task.context,
                fmt::format("a job of {} was due at {} ticks and is incomplete at {}, and no miss was recorded",
                            model().name(task.context), *task.deadline, now));
            account.reports = least;
        } else {
            verdicts().pass(Rule::deadline_miss);
        }
    }
    account.owes_miss = false;
    account.ended_due.reset();
}

// An overrun is reported when the job uses more than its worst case, and not only at its end. What the task uses in the
// place of another one is examined when it leaves the processor.
void Jobs::settle_cost(Account& account, const Task& task, std::uint64_t now) {
    const auto& running = model().running();
    if (running && running->shadow == task.context && running->exec != task.context) {
        return;
    }
    const std::uint64_t wcet = model().to_ticks(task.parameters.wcet_ns);
    const std::uint64_t used = account.used + so_far(task.context, 0, now, true);
    if (account.in_progress && account.measured && wcet != 0 && timing().judged && !account.overrun_reported &&
        used > wcet + timing().tolerance * (account.intervals + 1)) {
        fail_cost(task, used, wcet);
        account.overrun_reported = true;
    }
}

// Must be called at each decision: checks that the records that were due before it have come.
void Jobs::settle(const trace::Event& event) {
    for (auto& [context, account] : m_accounts.values()) {
        const Task* const task = model().find(context);
        if (task == nullptr) {
            continue;
        }
        if (is_hard(*task) && model().timed()) {
            settle_misses(account, *task, event.ticks.value);
            settle_cost(account, *task, event.ticks.value);
        }
        if (account.owes_answer) {
            verdicts().fail(Rule::activation_violation, context,
                            fmt::format("{} was activated sooner than its minimum inter-arrival after the release at "
                                        "{} ticks, and no record reports it",
                                        model().name(context), *account.last_release));
            account.owes_answer = false;
        }
        if (account.owes_release && !(is_hard(*task))) {
            verdicts().fail(Rule::skip_save, context,
                            fmt::format("{} has {} kept activations, but its next job does not begin",
                                        model().name(context), account.saved));
        }
        account.owes_release = false;
        account.backlog_known = account.backlog_known || account.idle; // a job that waited would have been released
    }
}

} // namespace host::analyse::oracle
