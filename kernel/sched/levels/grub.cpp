// SPDX-License-Identifier: MIT
// Implements the reclamation. The task's server timer rings at its zero-lag time.
#include "kernel/sched/levels/grub.hpp"

#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/schedule.hpp"

namespace kernel {

bool GrubLevel::accepts(const TaskModel& model) const {
    const auto* const soft = std::get_if<SoftModel>(&model);
    return soft != nullptr && soft->reclaiming == Reclaiming::grub;
}

void GrubLevel::create(Task& task, IrqOff off) {
    const auto& soft = model_as<SoftModel>(task.model);
    if (m_servers_alive++ == 0) {
        host().reservations().watch(this);
    }
    m_inactive += bandwidth_of(soft.budget.value, soft.period.value);
    SoftLevel::create(task, off);
}

void GrubLevel::end(Task& task, IrqOff off) {
    task_timer_delete(task.pid, TaskTimer::server, off);
    if (server(task).contention == Contention::inactive) {
        m_inactive -= server(task).bandwidth;
    }
    SoftLevel::end(task, off);
    update(off);
    if (--m_servers_alive == 0) {
        host().reservations().watch(nullptr);
    }
}

lib::Ticks GrubLevel::cost(lib::Ticks elapsed) const {
    return {saturate(divide_up(Wide{elapsed.value} * m_active, kBandwidthMax))};
}

// Returns the longest time that costs no more than this budget. All of the budget is used up then, because the cost is
// rounded up.
lib::Ticks GrubLevel::lasts(lib::Ticks budget) const {
    return {saturate(divide(Wide{budget.value} * kBandwidthMax, m_active).quotient)};
}

void GrubLevel::compete(Task& task, IrqOff off) {
    Server& own = server(task);
    if (own.contention == Contention::inactive) {
        m_inactive -= own.bandwidth;
    }
    task_timer_delete(task.pid, TaskTimer::server, off);
    own.contention = Contention::competing;
    update(off);
}

void GrubLevel::rest(Task& task, IrqOff off) {
    Server& own = server(task);
    const std::uint64_t lag = saturate(divide(Wide{own.left.value} * own.period.value, own.budget.value).quotient);
    own.contention = Contention::lagging;
    const lib::Ticks zero_lag{own.deadline.value > lag ? own.deadline.value - lag : 0};
    if (zero_lag <= now()) {
        deactivate(task, off);
    } else {
        task_timer_post<&GrubLevel::on_zero_lag>(task, TaskTimer::server, zero_lag, off);
    }
}

void GrubLevel::on_zero_lag(Task& task, IrqOff off) {
    static_cast<GrubLevel&>(*task.level).deactivate(task, off);
}

void GrubLevel::deactivate(Task& task, IrqOff off) {
    Server& own = server(task);
    own.contention = Contention::inactive;
    m_inactive += own.bandwidth;
    trace_points::server_reclaiming(own.id);
    update(off);
}

void GrubLevel::update(IrqOff off) {
    const std::uint64_t load = host().reservations().load();
    const std::uint64_t active = load > kBandwidthMax ? kBandwidthMax : load - m_inactive;
    if (active == m_active) {
        return;
    }
    Task* const exec = this_processor().exec;
    const bool running = exec != nullptr && exec->level == this;
    if (running) {
        charge(*exec, server(*exec), off);
    }
    m_active = static_cast<std::uint32_t>(active);
    trace_points::server_bandwidth(m_active);
    if (running) {
        arm(*exec, server(*exec), off);
        timer_changed(off);
    }
}

} // namespace kernel
