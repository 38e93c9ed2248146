// SPDX-License-Identifier: MIT
// Judges releases, deadlines and activations. Misses and costs are in oracle_jobs_late.cpp.
#include "host/analyse/oracle/oracle_jobs.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <limits>

namespace host::analyse::oracle {

using trace::kCodeOf;

namespace {

constexpr std::uint64_t kNsPerUs = 1'000;

} // namespace

void Jobs::event(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"task_create">:
        begin_task(event);
        break;
    case kCodeOf<"task_end">:
        end_task(event);
        break;
    case kCodeOf<"task_activate">:
        activate(event);
        break;
    case kCodeOf<"task_timer">:
        note_timer(event);
        break;
    case kCodeOf<"job_release">:
        release(event);
        break;
    case kCodeOf<"job_deadline">:
        due(event);
        break;
    case kCodeOf<"deadline_change">:
        m_accounts[event.par1].changed_us = event.par2;
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"job_abort">:
        end_job(event);
        break;
    case kCodeOf<"task_disable">:
        disable(event);
        break;
    case kCodeOf<"task_deadline_miss">:
        miss(event);
        break;
    case kCodeOf<"task_wcet_violation">:
        overrun(event);
        break;
    case kCodeOf<"activation_violation">:
        early(event);
        break;
    case kCodeOf<"job_skipped">:
        skipped(event);
        break;
    case kCodeOf<"job_queued">:
        queued(event);
        break;
    case kCodeOf<"task_schedule">:
        settle(event);
        break;
    default:
        break;
    }
}

// In a trace without job_release no job ends here, and the stamps would accumulate, so only the latest are kept. If the
// first job_release comes after more releases of one task than that, the earlier ones were jobs that are complete.
void Jobs::note_timer(const trace::Event& event) {
    constexpr std::size_t kUnrecordedMax = 1024;
    constexpr std::size_t kWaitingMax = std::size_t{1} << 20; // a task that never completes a job would need any amount
    Account* const account = m_accounts.find(event.par1);
    if (account == nullptr) {
        return;
    }
    if (!model().jobs_recorded() && account->outstanding.size() == kUnrecordedMax) {
        account->outstanding.pop_front();
    } else if (account->outstanding.size() == kWaitingMax) {
        account->outstanding.clear();
        account->backlog_known = false;
    }
    account->outstanding.push_back(event.ticks.value);
    account->last_timer = event.ticks.value;
}

bool Jobs::is_hard(const Task& task) const {
    return (task.policy == Policy::edf || task.policy == Policy::fixed) && !task.server;
}

void Jobs::begin_task(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    account = {};
    account.resting = true;
    account.idle = true;
    account.saved_known = true;
    account.whole = true;
    account.backlog_known = true;
}

// The first activation of a resting task may come at any time; any other must keep the minimum inter-arrival time.
void Jobs::activate(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    const Task* const task = model().find(event.par1);
    ++account.activations;
    if (task != nullptr && is_hard(*task) && !account.resting && account.last_release && model().timed() &&
        timing().judged) {
        const std::uint64_t earliest = *account.last_release + model().to_ticks(task->parameters.period_ns);
        account.owes_answer = event.ticks.value + timing().tolerance < earliest;
    }
    account.resting = false;
}

void Jobs::release(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    const auto release = model().times().release(event.par1);
    const Task* const task = model().find(event.par1);
    if (!release) {
        verdicts().undecided(Rule::release_period);
        account.origin.reset();
    } else if (const std::uint64_t period_ns = task != nullptr ? period_of(account, *task) : 0;
               period_ns != 0 && model().timed()) {
        judge_period(account, *task, period_ns, *release);
    }
    if (release) {
        judge_moment(event, *release);
    }
    if (account.saved > 0 && account.activations == 0) {
        --account.saved;
        account.saved_known = account.saved_known && account.whole; // else it may be of an activation in a hole
    }
    account.activations = account.activations > 0 ? account.activations - 1 : 0;
    account.last_release = release;
    account.in_progress = true;
    account.idle = false;
    account.owes_release = false;
    account.owes_answer = false;
    account.measured = model().processor_known();
    account.used = 0;
    account.intervals = 0;
    account.overrun_reported = false;
    m_released = event.par1;
}

// Kernels of other versions may record a release before its time; this one has then recorded some in time.
constexpr std::uint64_t kInTimeMin = 8;

// Returns whether the record that is judged comes too late for what was due at that time. Only the idle task is known
// to leave interrupts on: any other may have kept the kernel from it.
bool Jobs::is_late(std::uint64_t due) const {
    const auto& running = model().running();
    const Task* const exec = running ? model().find(running->exec) : nullptr;
    return exec != nullptr && exec->idle && running->since < due && timing().is_late(due);
}

// A release is recorded when it happens, not before its time, nor long after it while the machine had nothing to do.
void Jobs::judge_moment(const trace::Event& event, std::uint64_t release) {
    const bool early = timing().judged && release > event.ticks.value + timing().tolerance;
    m_in_time += early ? 0 : 1;
    if ((early && m_in_time > kInTimeMin) || is_late(release)) {
        verdicts().fail(Rule::release_period, event.par1,
                        fmt::format("the release of {} at {} ticks is recorded at {}, {}", model().name(event.par1),
                                    release, event.ticks.value,
                                    early ? "before its time" : "while the machine had nothing to do"));
    }
}

// Returns the nanoseconds between the releases of a task whose timer releases it; 0 if no timer does, or if it is not
// known.
std::uint64_t Jobs::period_of(const Account& account, const Task& task) const {
    if (is_hard(task)) {
        return task.parameters.period_ns;
    }
    const Server* const server = account.last_timer != 0 ? model().server_of(task) : nullptr;
    return server != nullptr ? server->period_ns : 0;
}

// A task with a server may drop releases that find it busy, and may be activated at any time after it was disabled.
void Jobs::judge_period(Account& account, const Task& task, std::uint64_t period_ns, std::uint64_t release) {
    const bool hard = is_hard(task);
    const std::uint64_t period = model().to_ticks(period_ns);
    const bool is_first = !account.last_release || account.activations > 0 || !account.origin;
    if (is_first && hard && account.last_release) {
        const std::uint64_t earliest = *account.last_release + period;
        verdicts().judge(Rule::release_period, release + 1 >= earliest, task.context, [&] {
            return fmt::format("{} is released at {} ticks, one period after the release before at {} is {}",
                               model().name(task.context), release, *account.last_release, earliest);
        });
    }
    if (is_first) {
        account.origin = release;
        account.number = 0;
        return;
    }
    const std::uint64_t since = !hard && release > *account.origin ? release - *account.origin : 0;
    account.number = std::max(account.number + 1, period != 0 ? (since + period / 2) / period : 0);
    const std::uint64_t expected = *account.origin + model().to_ticks(account.number * period_ns);
    const bool holds = same_but_rounding(release, expected);
    verdicts().judge(Rule::release_period, holds, task.context, [&] {
        return fmt::format("{} is released at {} ticks, release {} after {} with the period {} ns is at {}",
                           model().name(task.context), release, account.number, *account.origin, period_ns, expected);
    });
    if (!holds) {
        account.origin = release;
        account.number = 0;
    }
}

void Jobs::due(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    const Task* const task = model().find(event.par1);
    const bool changed = m_released != event.par1;
    m_released = 0;
    if (task == nullptr || !task->described) {
        verdicts().undecided(Rule::edf_deadline);
        return;
    }
    if (task->policy == Policy::cbs || task->policy == Policy::grub) {
        const Server* const server = model().server_of(*task);
        if (server == nullptr || !server->deadline) {
            verdicts().undecided(Rule::edf_deadline);
            return;
        }
        verdicts().judge(
            Rule::edf_deadline, static_cast<std::uint32_t>(*server->deadline) == event.par2, event.par1, [&] {
                return fmt::format("a job of {} is due at {} ticks, its server's deadline is {}",
                                   model().name(event.par1), model().times().deadline(event.par1).value_or(event.par2),
                                   *server->deadline);
            });
        return;
    }
    if (!is_hard(*task) || !task->release || !model().timed() || !account.in_progress) {
        return;
    }
    if (const auto deadline = model().times().deadline(event.par1)) {
        judge_relative(account, *task, *deadline, changed);
    } else {
        verdicts().undecided(task->policy == Policy::edf ? Rule::edf_deadline : Rule::rm_deadline);
    }
}

// The record of a change has microseconds. A longer deadline holds for the job in progress, which then has another
// job_deadline; a shorter one holds from the next release on.
void Jobs::judge_changed(const Account& account, const Task& task, std::uint64_t deadline) {
    const Rule rule = task.policy == Policy::edf ? Rule::edf_deadline : Rule::rm_deadline;
    const std::uint64_t changed_us = *account.changed_us;
    if (changed_us == std::numeric_limits<std::uint32_t>::max()) { // the record saturates there
        verdicts().undecided(rule);
        return;
    }
    const std::uint64_t least = *task.release + model().to_ticks(changed_us * kNsPerUs);
    const std::uint64_t most = *task.release + model().to_ticks((changed_us + 1) * kNsPerUs);
    verdicts().judge(rule, deadline + 1 >= least && deadline <= most, task.context, [&] {
        return fmt::format("a job of {} is due at {} ticks, its release {} + D, which was changed to {} us, is {}",
                           model().name(task.context), deadline, *task.release, changed_us, least);
    });
}

// Older kernels do not record task_set_deadline(), and a call before the trace or in a gap is not known. A longer
// deadline appears as a change of the job in progress. A shorter one holds from the next release on, so a deadline
// between C and the declared one may be right.
void Jobs::judge_relative(Account& account, const Task& task, std::uint64_t deadline, bool changed) {
    if (account.changed_us) {
        judge_changed(account, task, deadline);
        return;
    }
    const Rule rule = task.policy == Policy::edf ? Rule::edf_deadline : Rule::rm_deadline;
    const std::uint64_t release = *task.release;
    const std::uint64_t declared = model().to_ticks(task.parameters.deadline_ns);
    const std::uint64_t wcet = model().to_ticks(task.parameters.wcet_ns);
    const std::uint64_t period =
        task.parameters.period_ns != 0 ? model().to_ticks(task.parameters.period_ns) : declared;
    const std::uint64_t relative = deadline > release ? deadline - release : 0;
    const bool in_range = relative + 1 >= wcet && relative <= period + 1;
    const bool is_declared = same_but_rounding(relative, declared);
    const bool as_before = account.relative && *account.relative > declared && relative <= *account.relative + 1;
    if (in_range && !is_declared && (relative < declared || changed || as_before || !account.whole)) {
        verdicts().undecided(rule);
        account.relative = changed ? relative : account.relative;
        return;
    }
    verdicts().judge(rule, is_declared, task.context, [&] {
        return fmt::format("a job of {} is due at {} ticks, its release {} + D is {}", model().name(task.context),
                           deadline, release, release + declared);
    });
}

void Jobs::disable(const trace::Event& event) {
    end_job(event);
    Account& account = m_accounts[event.par1];
    account.resting = true;
    account.outstanding.clear();
    account.reports = 0;
    account.activations = 0;
    account.saved = 0;
    account.owes_release = false;
}

void Jobs::early(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    const Task* const task = model().find(event.par1);
    account.owes_answer = false;
    if (task == nullptr || !task->described || !account.last_release || !model().timed()) {
        verdicts().undecided(Rule::activation_violation);
        return;
    }
    const std::uint64_t last = std::max(*account.last_release, account.last_timer);
    const std::uint64_t earliest = last + model().to_ticks(task->parameters.period_ns);
    verdicts().judge(Rule::activation_violation, event.ticks.value < earliest + timing().tolerance, event.par1, [&] {
        return fmt::format("an activation of {} at {} ticks is recorded as early, but it was due from {} on",
                           model().name(event.par1), event.ticks.value, earliest);
    });
}

void Jobs::skipped(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    account.owes_answer = false;
    account.activations = account.activations > 0 ? account.activations - 1 : 0;
    if (account.rests() && !account.whole) {
        verdicts().undecided(Rule::skip_save); // it may have an activation for a later time
        return;
    }
    verdicts().judge(Rule::skip_save, !account.rests(), event.par1, [&] {
        return fmt::format("an activation of {} is dropped although it has no job", model().name(event.par1));
    });
}

void Jobs::queued(const trace::Event& event) {
    Account& account = m_accounts[event.par1];
    account.owes_answer = false;
    account.activations = account.activations > 0 ? account.activations - 1 : 0;
    if (account.rests() && !account.whole) {
        verdicts().undecided(Rule::skip_save);
    } else if (account.rests()) {
        verdicts().fail(Rule::skip_save, event.par1,
                        fmt::format("an activation of {} is kept although it has no job", model().name(event.par1)));
    } else {
        verdicts().judge(Rule::skip_save, !account.saved_known || event.par2 == account.saved + 1, event.par1, [&] {
            return fmt::format("{} has {} pending activations, but {} were kept", model().name(event.par1), event.par2,
                               account.saved + 1);
        });
    }
    account.saved = event.par2;
    account.saved_known = true;
}

} // namespace host::analyse::oracle
