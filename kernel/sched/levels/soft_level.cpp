// SPDX-License-Identifier: MIT
// Implements the rules of soft_level.hpp. The task's job timer is the next periodic release, or an activation in the
// future; GRUB uses the server timer, too.
#include "kernel/sched/levels/soft_level.hpp"

#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/sched/levels/level_parts.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/time/budget_end.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/schedule.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

SoftLevel& soft_level_of(const Task& task) {
    return static_cast<SoftLevel&>(*task.level);
}

bool within_ranges(const SoftModel& model) {
    return model.budget >= kServerBudgetMin && model.budget <= model.period;
}

Demand demand_of(const SoftModel& model) {
    return {.wcet_ns = model.budget.value,
            .period_ns = model.period.value,
            .deadline_ns = model.period.value,
            .server = true};
}

} // namespace

void SoftLevel::prepare(const TaskModel& model) {
    const auto& soft = model_as<SoftModel>(model);
    if (within_ranges(soft)) {
        m_host.reservations().prepare(Claim::deadline, demand_of(soft));
    }
}

lib::Result<void> SoftLevel::guarantee(const TaskModel& model, IrqOff) {
    const auto& soft = model_as<SoftModel>(model);
    if (!within_ranges(soft)) {
        return lib::Error::invalid_argument;
    }
    return m_host.reservations().admits(Claim::deadline, demand_of(soft)) ? lib::Result<void>{} : lib::Error::refused;
}

void SoftLevel::create(Task& task, IrqOff off) {
    const auto& soft = model_as<SoftModel>(task.model);
    Server& own = server(task);
    own = {};
    own.id = fresh_server_id(off);
    own.periodic = soft.periodic;
    own.budget = to_ticks(soft.budget);
    own.period = to_ticks_up(soft.period);
    own.period_ns = soft.period.value;
    own.bandwidth = bandwidth_of(soft.budget.value, soft.period.value);
    m_saved.drop_all(task);
    m_host.reservations().set(Reservations::slot_of_task(task.pid.value), Claim::deadline, demand_of(soft), off);
    task.state = TaskState::sleeping;
    trace_points::server_created(own.id, task.name.view(), m_kind, soft.budget, soft.period);
    trace_points::server_attached(own.id, task);
}

bool SoftLevel::refuses_activation(const Task& task, IrqOff) const {
    return task.state != TaskState::sleeping &&
           (m_servers[task.pid.value].periodic || model_as<SoftModel>(task.model).overlap == Overlap::refuse);
}

// Returns whether budget and deadline would promise more than the bandwidth from this time on.
bool SoftLevel::outdated(const Server& own, lib::Ticks time) {
    return own.deadline <= time ||
           Wide{own.left.value} * own.period.value >= Wide{(own.deadline - time).value} * own.budget.value;
}

[[gnu::always_inline]] inline void SoftLevel::compete(Task& task, IrqOff off) {
    if (m_reclaimer != nullptr) {
        m_reclaimer->compete(task, off);
    }
}

void SoftLevel::rest(Task& task, IrqOff off) {
    if (m_reclaimer != nullptr) {
        m_reclaimer->rest(task, off);
    }
}

// Gives work to an idle server.
[[gnu::always_inline]] inline void SoftLevel::wake(const Task& task, Server& own) {
    const lib::Ticks time = now();
    trace_points::server_activated(own.id, task);
    if (outdated(own, time)) {
        own.deadline = time + own.period;
        own.left = own.budget;
        trace_points::server_replenished(own.id);
    }
    trace_points::server_budget(own.id, own.left);
    trace_points::server_deadline(own.id, own.deadline);
}

// Starts a job of a task whose server is idle.
[[gnu::always_inline]] inline void SoftLevel::start(Task& task, Server& own, lib::Ticks at, IrqOff off) {
    compete(task, off);
    wake(task, own);
    begin_job(task, own, at, off);
}

[[gnu::always_inline]] inline void SoftLevel::begin_job(Task& task, const Server& own, lib::Ticks at, IrqOff off) {
    ++task.jobs.released;
    task.job_begun = false;
    task.released_at = at;
    task.state = TaskState::ready;
    trace_points::job_released(task, at);
    trace_points::job_deadline_set(task, own.deadline);
    m_host.queue().insert(task, own.deadline.value, off);
}

lib::Result<void> SoftLevel::activate(Task& task, lib::Ticks at, IrqOff off) {
    Server& own = server(task);
    if (task.state != TaskState::sleeping) {
        return own.periodic ? lib::Error::busy : m_saved.add(task, model_as<SoftModel>(task.model).overlap, at);
    }
    own.origin = at;
    own.releases = 0;
    task.state = TaskState::idle;
    if (at > now()) {
        task_timer_post<&SoftLevel::on_release>(task, TaskTimer::job, at, off);
    } else if (own.periodic || m_reclaimer != nullptr) {
        release(task, at, off);
    } else {
        start(task, own, at, off);
    }
    return {};
}

lib::Ticks SoftLevel::release_time(const Server& own) const {
    return own.origin + to_ticks({own.period_ns * own.releases});
}

// Serves an activation that was put off until now, or a periodic release.
void SoftLevel::on_release(Task& task, IrqOff off) {
    SoftLevel& level = soft_level_of(task);
    level.release(task, level.release_time(level.server(task)), off);
    schedule(off);
}

void SoftLevel::release(Task& task, lib::Ticks at, IrqOff off) {
    Server& own = server(task);
    if (own.periodic) {
        trace_points::task_timer_released(task);
        ++own.releases;
        task_timer_post<&SoftLevel::on_release>(task, TaskTimer::job, release_time(own), off);
    }
    if (task.state == TaskState::idle) {
        start(task, own, at, off);
        return;
    }
    const Overlap overlap = model_as<SoftModel>(task.model).overlap;
    static_cast<void>(m_saved.add(task, overlap == Overlap::save ? overlap : Overlap::skip, at));
}

// Returns the deadline, a new one if the old is outdated: time in which the position did not count is lost.
std::uint64_t SoftLevel::unparked(Task& task, IrqOff) {
    Server& own = server(task);
    if (outdated(own, now())) {
        wake(task, own);
        trace_points::job_deadline_set(task, own.deadline);
    }
    return own.deadline.value;
}

void SoftLevel::finish_job(Task& task, IrqOff off) {
    ++task.jobs.completed;
    m_host.queue().remove(task, off);
    task.state = server(task).periodic ? TaskState::idle : TaskState::sleeping;
}

JobEnd SoftLevel::end_cycle(Task& task, IrqOff off) {
    trace_points::task_cycle_ended(task);
    finish_job(task, off);
    if (const auto at = m_saved.take(task)) {
        begin_job(task, server(task), *at, off); // the server stays active: budget and deadline are kept
    } else {
        rest(task, off);
    }
    return JobEnd::task_stays;
}

JobEnd SoftLevel::sleep(Task& task, IrqOff off) {
    trace_points::task_disabled(task);
    m_saved.drop_all(task);
    task_timer_delete(task.pid, TaskTimer::job, off);
    finish_job(task, off);
    task.state = TaskState::sleeping;
    rest(task, off);
    return JobEnd::task_stays;
}

void SoftLevel::block(Task& task, IrqOff off) {
    m_host.queue().remove(task, off);
    rest(task, off);
}

[[gnu::always_inline]] inline void SoftLevel::work_again(Task& task, IrqOff off) {
    Server& own = server(task);
    const lib::Ticks before = own.deadline;
    task.state = TaskState::ready;
    wake(task, own);
    if (own.deadline != before) {
        trace_points::job_deadline_set(task, own.deadline);
    }
    m_host.queue().insert(task, own.deadline.value, off);
}

void SoftLevel::unblock(Task& task, IrqOff off) {
    if (m_reclaimer != nullptr) {
        unblock_reclaiming(task, off);
        return;
    }
    work_again(task, off);
}

void SoftLevel::unblock_reclaiming(Task& task, IrqOff off) {
    m_reclaimer->compete(task, off);
    work_again(task, off);
}

void SoftLevel::end(Task& task, IrqOff off) {
    task_timer_delete(task.pid, TaskTimer::job, off);
    budget_end_delete(task, off);
    m_host.queue().remove_if_there(task, off);
    trace_points::server_removed(server(task).id);
    server(task) = {};
    m_host.reservations().retire(Reservations::slot_of_task(task.pid.value), off);
}

std::uint64_t SoftLevel::preemption_level(const Task& task, IrqOff) const {
    return model_as<SoftModel>(task.model).period.value;
}

void SoftLevel::arm(Task& task, const Server& own, IrqOff off) {
    if (m_reclaimer != nullptr) {
        arm_reclaiming(task, own, off);
        return;
    }
    budget_end_post(task, own.begun_at + own.left, &SoftLevel::on_exhausted, off);
}

void SoftLevel::arm_reclaiming(Task& task, const Server& own, IrqOff off) {
    budget_end_post(task, own.begun_at + m_reclaimer->lasts(own.left), &SoftLevel::on_exhausted, off);
}

void SoftLevel::slot_begin(Task& task, IrqOff off) {
    Server& own = server(task);
    own.begun_at = this_processor().dispatched_at;
    arm(task, own, off);
}

// Charges the rest, because parts of the elapsed time may be charged already.
void SoftLevel::slot_end(Task& task, lib::Ticks /*elapsed*/, IrqOff off) {
    budget_end_delete(task, off);
    charge(task, server(task), off);
}

void SoftLevel::on_exhausted(Task& task, IrqOff off) {
    SoftLevel& level = soft_level_of(task);
    level.charge(task, level.server(task), off);
    level.arm(task, level.server(task), off);
    schedule(off);
}

void SoftLevel::charge(Task& task, Server& own, IrqOff off) {
    const lib::Ticks elapsed = now() - own.begun_at;
    own.begun_at = own.begun_at + elapsed;
    const lib::Ticks charged = m_reclaimer == nullptr ? elapsed : m_reclaimer->cost(elapsed);
    if (charged < elapsed) {
        trace_points::server_reclaimed(own.id, elapsed - charged);
    }
    if (charged < own.left) {
        own.left = own.left - charged;
        trace_points::server_budget(own.id, own.left);
        return;
    }
    own.debt = charged - own.left;
    own.left = {};
    trace_points::server_budget(own.id, own.left);
    exhaust(task, own, off);
}

// Gives new budgets. The loop is bounded: an interrupt that comes late by n budgets makes n + 1 rounds.
void SoftLevel::exhaust(Task& task, Server& own, IrqOff off) {
    while (own.left == lib::Ticks{}) {
        trace_points::server_exhausted(own.id);
        const lib::Ticks taken = own.debt < own.budget ? own.debt : own.budget;
        own.debt = own.debt - taken;
        own.left = own.budget - taken;
        own.deadline = own.deadline + own.period;
        trace_points::server_replenished(own.id);
        trace_points::server_budget(own.id, own.left);
        trace_points::server_deadline(own.id, own.deadline);
    }
    trace_points::job_deadline_set(task, own.deadline);
    m_host.queue().move(task, own.deadline.value, off);
}

} // namespace kernel
