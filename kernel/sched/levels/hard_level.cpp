// SPDX-License-Identifier: MIT
// Implements the levels that hard_level.hpp draws.
#include "kernel/sched/levels/hard_level.hpp"

#include "kernel/sched/exception.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/time/budget_end.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/task.hpp"

#include <algorithm>
#include <limits>

namespace kernel {

namespace {

constexpr std::uint64_t kNoPeriod = std::numeric_limits<std::uint64_t>::max();

Demand demand_of(const TaskModel& model) {
    if (const auto* const job = std::get_if<JobModel>(&model)) {
        return {job->wcet.value, kNoPeriod, job->deadline.value};
    }
    const auto& hard = model_as<HardModel>(model);
    const std::uint64_t deadline = hard.relative_deadline.value != 0 ? hard.relative_deadline.value : hard.period.value;
    return {hard.wcet.value, hard.period.value, deadline};
}

bool within_ranges(const Demand& demand) {
    return demand.wcet_ns != 0 && demand.wcet_ns <= demand.deadline_ns && demand.deadline_ns <= demand.period_ns;
}

bool sporadic(const TaskModel& model) {
    const auto* const hard = std::get_if<HardModel>(&model);
    return hard != nullptr && hard->arrival == Arrival::sporadic;
}

lib::Nanoseconds offset_of(const TaskModel& model) {
    const auto* const hard = std::get_if<HardModel>(&model);
    return hard != nullptr ? hard->offset : lib::Nanoseconds{};
}

HardLevel& hard_level_of(const Task& task) {
    return static_cast<HardLevel&>(*task.level);
}

} // namespace

void HardLevel::prepare(const TaskModel& model) {
    const Demand wanted = demand_of(model);
    if (within_ranges(wanted)) {
        m_reservations.prepare(m_claim, wanted);
    }
}

lib::Result<void> HardLevel::guarantee(const TaskModel& model, IrqOff) {
    const Demand wanted = demand_of(model);
    if (!within_ranges(wanted)) {
        return lib::Error::invalid_argument;
    }
    if (sporadic(model) && offset_of(model).value != 0) {
        return lib::Error::invalid_argument; // an activation is the release
    }
    return m_reservations.admits(m_claim, wanted) ? lib::Result<void>{} : lib::Error::refused;
}

void HardLevel::create(Task& task, IrqOff off) {
    Promise& promised = promise(task);
    promised = {};
    promised.demand = demand_of(task.model);
    promised.next_deadline_ns = promised.demand.deadline_ns;
    promised.wcet = to_ticks({promised.demand.wcet_ns});
    if (std::holds_alternative<JobModel>(task.model)) {
        promised.kind = Kind::single;
    } else if (sporadic(task.model)) {
        promised.kind = Kind::sporadic;
    }
    m_reservations.set(Reservations::slot_of_task(task.pid.value), m_claim, promised.demand, off);
    task.state = TaskState::sleeping;
}

// Sets a deadline; until its next release the task counts with the shorter of the two. What ran by the shorter one has
// kept others waiting, and a task that is admitted because of the longer one must not pay for that.
lib::Result<void> HardLevel::set_deadline(Task& task, lib::Nanoseconds relative, IrqOff off) {
    Promise& promised = promise(task);
    if (promised.kind == Kind::single) {
        return lib::Error::unsupported;
    }
    const std::uint64_t wanted_ns = relative.value != 0 ? relative.value : promised.demand.period_ns;
    if (wanted_ns < promised.demand.wcet_ns || wanted_ns > promised.demand.period_ns) {
        return lib::Error::invalid_argument;
    }
    const bool active = task.state != TaskState::sleeping;
    if (active && task.jobs.released > task.jobs.completed + 1) {
        return lib::Error::busy;
    }
    Demand counted = promised.demand;
    counted.deadline_ns = wanted_ns;
    const bool shorter = wanted_ns < promised.demand.deadline_ns;
    const auto slot = Reservations::slot_of_task(task.pid.value);
    if (shorter && !m_reservations.admits(m_claim, counted, slot)) {
        return lib::Error::refused;
    }
    promised.next_deadline_ns = wanted_ns;
    trace_points::deadline_changed(task, {wanted_ns});
    if (shorter || (!active && now() >= promised.earliest)) {
        promised.demand = counted;
        m_reservations.set(slot, m_claim, counted, off);
    }
    if (active && promised.awaiting == Awaiting::deadline && wanted_ns > promised.latest_deadline_ns &&
        now() <= deadline_time(task, task.jobs.released - 1)) {
        promised.latest_deadline_ns = wanted_ns;
        move_deadline(task, off);
    }
    return {};
}

// A sporadic task refuses an activation if one release waits already.
bool HardLevel::refuses_activation(const Task& task, IrqOff) const {
    const Promise& promised = m_promises[task.pid.value];
    return promised.kind == Kind::sporadic ? promised.release_waits || task.jobs.released > task.jobs.completed + 1
                                           : task.state != TaskState::sleeping;
}

// Returns `at`, or now if that is long ago: work that came long ago would ask for time that others were promised.
lib::Ticks HardLevel::not_long_ago(lib::Ticks at) {
    const lib::Ticks time = now();
    return at + to_ticks(kActivationLagMax) < time ? time : at;
}

lib::Result<void> HardLevel::activate(Task& task, lib::Ticks at, IrqOff off) {
    if (refuses_activation(task, off)) {
        return lib::Error::busy;
    }
    Promise& promised = promise(task);
    if (promised.kind == Kind::sporadic) {
        arrive(task, at, off);
        return {};
    }
    promised.base = task.jobs.released;
    // An earlier release would use time that was promised to others.
    promised.origin = std::max(not_long_ago(at + to_ticks(offset_of(task.model))), promised.earliest);
    task.state = TaskState::idle;
    if (promised.kind == Kind::single) {
        promised.put_off = promised.origin;
        promised.release_waits = true;
    }
    if (promised.origin <= now()) {
        release(task, off);
    } else {
        await_release(task, off);
    }
    return {};
}

// Serves an activation of a sporadic task.
void HardLevel::arrive(Task& task, lib::Ticks at, IrqOff off) {
    Promise& promised = promise(task);
    if (at < promised.earliest) {
        trace_points::activation_violated(task);
        raise_exception(task, TaskException::activation, off);
    }
    promised.put_off = std::max(not_long_ago(at), promised.earliest);
    promised.release_waits = true;
    if (task.state == TaskState::sleeping) {
        task.state = TaskState::idle;
    }
    if (promised.put_off <= now()) {
        if (promised.awaiting == Awaiting::deadline) {
            check_deadline(task, off); // the interrupt that would have reported it is still pending
        }
        release(task, off);
    } else if (promised.awaiting != Awaiting::deadline) {
        await_release(task, off);
    }
}

lib::Ticks HardLevel::release_time(const Task& task, std::uint64_t job) {
    const Promise& promised = promise(task);
    return promised.origin + to_ticks({(job - promised.base) * promised.demand.period_ns});
}

lib::Ticks HardLevel::deadline_time(const Task& task, std::uint64_t job) {
    const Promise& promised = promise(task);
    return promised.origin +
           to_ticks({(job - promised.base) * promised.demand.period_ns + promised.latest_deadline_ns});
}

void HardLevel::await_deadline(Task& task, IrqOff off) {
    promise(task).awaiting = Awaiting::deadline;
    task_timer_post<&HardLevel::on_job_timer>(task, TaskTimer::job, deadline_time(task, task.jobs.released - 1), off);
}

// Waits for the next release, or for an activation if a task that is not periodic has none.
void HardLevel::await_release(Task& task, IrqOff off) {
    Promise& promised = promise(task);
    if (promised.kind != Kind::periodic && !promised.release_waits) {
        promised.awaiting = Awaiting::nothing;
        task_timer_delete(task.pid, TaskTimer::job, off);
        if (task.state == TaskState::idle) {
            task.state = TaskState::sleeping;
        }
        return;
    }
    promised.awaiting = Awaiting::release;
    const lib::Ticks at = promised.kind == Kind::periodic ? release_time(task, task.jobs.released) : promised.put_off;
    task_timer_post<&HardLevel::on_job_timer>(task, TaskTimer::job, at, off);
}

// Releases a job. Every release is recorded, also the first one that an activation makes at once, because readers count
// periods by these records alone.
void HardLevel::release(Task& task, IrqOff off) {
    trace_points::task_timer_released(task);
    Promise& promised = promise(task);
    if (promised.kind != Kind::periodic) {
        promised.origin = promised.put_off;
        promised.base = task.jobs.released;
        promised.earliest = promised.origin + to_ticks({promised.demand.period_ns});
        promised.release_waits = false;
    }
    ++task.jobs.released;
    promised.latest_deadline_ns = promised.next_deadline_ns;
    if (promised.demand.deadline_ns != promised.next_deadline_ns) {
        promised.demand.deadline_ns = promised.next_deadline_ns;
        m_reservations.set(Reservations::slot_of_task(task.pid.value), m_claim, promised.demand, off);
    }
    if (task.state == TaskState::idle) {
        begin_job(task, off);
    }
    await_deadline(task, off);
}

// Makes the job with number jobs.completed the one in progress.
void HardLevel::begin_job(Task& task, IrqOff off) {
    Promise& promised = promise(task);
    promised.job = {deadline_time(task, task.jobs.completed), promised.latest_deadline_ns};
    promised.used = {};
    promised.violated = false;
    task.job_begun = false;
    task.released_at = release_time(task, task.jobs.completed);
    trace_points::job_released(task, task.released_at);
    trace_points::job_deadline_set(task, promised.job.deadline);
    unblock(task, off);
}

// Moves timer and position in the queue of the last released job, which is in progress and got more time.
void HardLevel::move_deadline(Task& task, IrqOff off) {
    Promise& promised = promise(task);
    promised.job = {deadline_time(task, task.jobs.completed), promised.latest_deadline_ns};
    trace_points::job_deadline_set(task, promised.job.deadline);
    await_deadline(task, off);
    if (m_ready.holds(task)) {
        m_ready.move(task, key_of(promised.job), off);
    }
}

// Examines a deadline, each once: the latest released job is late if any job is still to be completed.
void HardLevel::check_deadline(Task& task, IrqOff off) {
    if (task.jobs.completed < task.jobs.released) {
        trace_points::task_deadline_missed(task);
        raise_exception(task, TaskException::deadline_miss, off);
    }
}

void HardLevel::on_job_timer(Task& task, IrqOff off) {
    HardLevel& level = hard_level_of(task);
    if (level.promise(task).awaiting == Awaiting::deadline) {
        level.check_deadline(task, off);
        level.await_release(task, off);
        return;
    }
    level.release(task, off);
    schedule(off);
}

// Must be called before the end of the job is recorded, because a miss without a job in progress would refer to no job.
void HardLevel::report_late_job(Task& task, IrqOff off) {
    if (promise(task).awaiting == Awaiting::deadline && now() > deadline_time(task, task.jobs.released - 1)) {
        check_deadline(task, off); // the interrupt that would have reported it is still pending
        await_release(task, off);
    }
}

void HardLevel::finish_job(Task& task, IrqOff off) {
    ++task.jobs.completed;
    block(task, off);
    task.state = TaskState::idle;
}

JobEnd HardLevel::end_cycle(Task& task, IrqOff off) {
    report_late_job(task, off);
    trace_points::task_cycle_ended(task);
    finish_job(task, off);
    if (promise(task).kind == Kind::single) {
        return JobEnd::task_over;
    }
    if (task.jobs.completed < task.jobs.released) {
        begin_job(task, off);
    } else {
        await_release(task, off);
    }
    return JobEnd::task_stays;
}

JobEnd HardLevel::sleep(Task& task, IrqOff off) {
    report_late_job(task, off);
    trace_points::task_disabled(task);
    finish_job(task, off);
    Promise& promised = promise(task);
    if (promised.kind == Kind::single) {
        return JobEnd::task_over;
    }
    if (promised.kind == Kind::periodic) {
        promised.earliest = release_time(task, task.jobs.released);
    }
    task.jobs.completed = task.jobs.released; // pending releases are dropped
    task_timer_delete(task.pid, TaskTimer::job, off);
    promised.awaiting = Awaiting::nothing;
    promised.release_waits = false;
    task.state = TaskState::sleeping;
    return JobEnd::task_stays;
}

void HardLevel::unblock(Task& task, IrqOff off) {
    task.state = TaskState::ready;
    m_ready.insert(task, key_of(promise(task).job), off);
}

void HardLevel::end(Task& task, IrqOff off) {
    task_timer_delete(task.pid, TaskTimer::job, off);
    budget_end_delete(task, off);
    m_ready.remove_if_there(task, off);
    m_reservations.retire(Reservations::slot_of_task(task.pid.value), off);
    promise(task) = {};
}

std::uint64_t HardLevel::preemption_level(const Task& task, IrqOff) const {
    return m_promises[task.pid.value].next_deadline_ns;
}

// A timer watches the budget only while the task runs in its own right. What the task uses up while it inherits counts
// too, and is examined in the epilogue.
void HardLevel::dispatch(Task& task, Behalf behalf, IrqOff off) {
    const Promise& promised = promise(task);
    if (behalf == Behalf::own && !promised.violated) {
        const lib::Ticks left = promised.used < promised.wcet ? promised.wcet - promised.used : lib::Ticks{};
        budget_end_post(task, this_processor().dispatched_at + left, &HardLevel::on_capacity, off);
    }
}

void HardLevel::epilogue(Task& task, lib::Ticks elapsed, IrqOff off) {
    budget_end_delete(task, off);
    Promise& promised = promise(task);
    promised.used = promised.used + elapsed;
    if (promised.used > promised.wcet) {
        violate(task, off);
    }
}

void HardLevel::on_capacity(Task& task, IrqOff off) {
    hard_level_of(task).violate(task, off);
}

void HardLevel::violate(Task& task, IrqOff off) {
    Promise& promised = promise(task);
    if (!promised.violated) {
        promised.violated = true;
        trace_points::task_wcet_violated(task);
        raise_exception(task, TaskException::wcet, off);
    }
}

} // namespace kernel
