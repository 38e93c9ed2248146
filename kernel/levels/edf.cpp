// SPDX-License-Identifier: MIT
// See edf.hpp for the picture.
#include "kernel/levels/edf.hpp"

#include "kernel/clock.hpp"
#include "kernel/exception.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

namespace {

Demand demand_of(const HardModel& model) {
    const std::uint64_t deadline =
        model.relative_deadline.value != 0 ? model.relative_deadline.value : model.period.value;
    return {model.wcet.value, model.period.value, deadline};
}

EdfLevel& level_of(const Task& task) {
    return static_cast<EdfLevel&>(*task.level);
}

} // namespace

bool EdfLevel::accepts(const TaskModel& model) const {
    return std::holds_alternative<HardModel>(model);
}

lib::Result<void> EdfLevel::guarantee(const TaskModel& model) {
    const Demand wanted = demand_of(model_as<HardModel>(model));
    if (wanted.wcet_ns == 0 || wanted.wcet_ns > wanted.deadline_ns || wanted.deadline_ns > wanted.period_ns) {
        return lib::Error::invalid_argument;
    }
    return feasible_with(wanted, nullptr) ? lib::Result<void>{} : lib::Error::refused;
}

bool EdfLevel::feasible_with(const Demand& wanted, const Reservation* replaced) {
    std::size_t count = 0;
    for (const Reservation& reserved : m_reservations) {
        if (reserved.demand.period_ns != 0 && &reserved != replaced) {
            m_demands[count++] = reserved.demand;
        }
    }
    m_demands[count++] = wanted;
    return edf_feasible(std::span(m_demands).first(count));
}

void EdfLevel::create(Task& task) {
    Reservation& reserved = reservation(task);
    reserved = {};
    reserved.demand = demand_of(model_as<HardModel>(task.model));
    reserved.latest_deadline_ns = reserved.demand.deadline_ns;
    reserved.next_deadline_ns = reserved.demand.deadline_ns;
    reserved.wcet = to_ticks({reserved.demand.wcet_ns});
    task.state = TaskState::sleeping;
}

// Until its next release a task counts with the shorter of the two deadlines: what ran by the shorter one has kept
// others waiting, and a task that is admitted on the strength of the longer one must not pay for that.
lib::Result<void> EdfLevel::set_deadline(Task& task, lib::Nanoseconds relative) {
    Reservation& reserved = reservation(task);
    const std::uint64_t wanted_ns = relative.value != 0 ? relative.value : reserved.demand.period_ns;
    if (wanted_ns < reserved.demand.wcet_ns || wanted_ns > reserved.demand.period_ns) {
        return lib::Error::invalid_argument;
    }
    const bool active = task.state != TaskState::sleeping;
    if (active && task.jobs.released > task.jobs.completed + 1) {
        return lib::Error::busy;
    }
    Demand counted = reserved.demand;
    counted.deadline_ns = wanted_ns;
    const bool shorter = wanted_ns < reserved.demand.deadline_ns;
    if (shorter && !feasible_with(counted, &reserved)) {
        return lib::Error::refused;
    }
    reserved.next_deadline_ns = wanted_ns;
    if (shorter || (!active && now() >= reserved.earliest)) {
        reserved.demand = counted;
    }
    if (active && reserved.awaiting == Awaiting::deadline && wanted_ns > reserved.latest_deadline_ns &&
        now() <= deadline_time(task, task.jobs.released - 1)) {
        reserved.latest_deadline_ns = wanted_ns;
        move_deadline(task);
    }
    return {};
}

lib::Result<void> EdfLevel::activate(Task& task, lib::Ticks at) {
    if (task.state != TaskState::sleeping) {
        return lib::Error::busy;
    }
    Reservation& reserved = reservation(task);
    reserved.base = task.jobs.released;
    reserved.origin = at + to_ticks(model_as<HardModel>(task.model).offset);
    if (reserved.origin < reserved.earliest) {
        reserved.origin = reserved.earliest; // sooner would use time that was promised to others
    }
    task.state = TaskState::idle;
    if (reserved.origin <= now()) {
        release(task);
    } else {
        await(task, Awaiting::release);
    }
    return {};
}

lib::Ticks EdfLevel::release_time(const Task& task, std::uint64_t job) {
    const Reservation& reserved = reservation(task);
    return reserved.origin + to_ticks({(job - reserved.base) * reserved.demand.period_ns});
}

lib::Ticks EdfLevel::deadline_time(const Task& task, std::uint64_t job) {
    const Reservation& reserved = reservation(task);
    return reserved.origin +
           to_ticks({(job - reserved.base) * reserved.demand.period_ns + reserved.latest_deadline_ns});
}

void EdfLevel::await(Task& task, Awaiting what) {
    reservation(task).awaiting = what;
    const lib::Ticks at = what == Awaiting::release ? release_time(task, task.jobs.released)
                                                    : deadline_time(task, task.jobs.released - 1);
    task_timer_post_irq_off(task.pid, TaskTimer::job, at, &EdfLevel::on_job_timer);
}

// Every release is told, also the first one that an activation makes at once: a reader counts periods by these alone.
void EdfLevel::release(Task& task) {
    trace_points::task_timer_released(task);
    ++task.jobs.released;
    Reservation& reserved = reservation(task);
    reserved.latest_deadline_ns = reserved.next_deadline_ns;
    reserved.demand.deadline_ns = reserved.next_deadline_ns;
    if (task.state == TaskState::idle) {
        begin_job(task);
    }
    await(task, Awaiting::deadline);
}

// The job with number jobs.completed becomes the one in progress.
void EdfLevel::begin_job(Task& task) {
    Reservation& reserved = reservation(task);
    reserved.deadline = deadline_time(task, task.jobs.completed);
    reserved.used = {};
    reserved.violated = false;
    task.job_begun = false;
    trace_points::job_released(task, release_time(task, task.jobs.completed));
    trace_points::job_deadline_set(task, reserved.deadline);
    unblock(task);
}

// The job released last is in progress and got more time: its timer moves, and its place in the queue.
void EdfLevel::move_deadline(Task& task) {
    Reservation& reserved = reservation(task);
    reserved.deadline = deadline_time(task, task.jobs.completed);
    trace_points::job_deadline_set(task, reserved.deadline);
    await(task, Awaiting::deadline);
    if (m_ready.holds(task)) {
        m_ready.move(task, reserved.deadline.value);
    }
}

// Every deadline is looked at once: the latest released job is late if any job is still to be completed.
void EdfLevel::check_deadline(Task& task) {
    if (task.jobs.completed < task.jobs.released) {
        trace_points::task_deadline_missed(task);
        raise_exception_irq_off(task, TaskException::deadline_miss);
    }
}

void EdfLevel::on_job_timer(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    EdfLevel& level = level_of(task);
    if (level.reservation(task).awaiting == Awaiting::deadline) {
        level.check_deadline(task);
        level.await(task, Awaiting::release);
        return;
    }
    level.release(task);
    schedule_irq_off();
}

void EdfLevel::finish_job(Task& task) {
    Reservation& reserved = reservation(task);
    if (reserved.awaiting == Awaiting::deadline && now() > deadline_time(task, task.jobs.released - 1)) {
        check_deadline(task); // the interrupt that would have told is still on its way
        await(task, Awaiting::release);
    }
    ++task.jobs.completed;
    block(task);
    task.state = TaskState::idle;
}

void EdfLevel::end_cycle(Task& task) {
    trace_points::task_cycle_ended(task);
    finish_job(task);
    if (task.jobs.completed < task.jobs.released) {
        begin_job(task);
    } else if (reservation(task).awaiting == Awaiting::deadline) {
        await(task, Awaiting::release);
    }
}

void EdfLevel::sleep(Task& task) {
    trace_points::task_disabled(task);
    finish_job(task);
    reservation(task).earliest = release_time(task, task.jobs.released);
    task.jobs.completed = task.jobs.released; // pending releases are dropped
    task_timer_delete_irq_off(task.pid, TaskTimer::job);
    reservation(task).awaiting = Awaiting::nothing;
    task.state = TaskState::sleeping;
}

void EdfLevel::block(Task& task) {
    m_ready.remove(task);
}

void EdfLevel::unblock(Task& task) {
    task.state = TaskState::ready;
    m_ready.insert(task, reservation(task).deadline.value);
}

void EdfLevel::end(Task& task) {
    task_timer_delete_irq_off(task.pid, TaskTimer::job);
    task_timer_delete_irq_off(task.pid, TaskTimer::capacity);
    m_ready.remove_if_there(task);
    reservation(task) = {};
}

Task* EdfLevel::first() const {
    return m_ready.first();
}

std::uint64_t EdfLevel::preemption_level(const Task& task) const {
    return m_reservations[task.pid.value].next_deadline_ns;
}

// The budget is watched by a timer only while the task runs in its own right; what it uses up while it inherits counts
// too, and is looked at in the epilogue.
void EdfLevel::dispatch(Task& task, Behalf behalf) {
    const Reservation& reserved = reservation(task);
    if (behalf == Behalf::own && !reserved.violated) {
        const lib::Ticks left = reserved.used < reserved.wcet ? reserved.wcet - reserved.used : lib::Ticks{};
        task_timer_post_irq_off(task.pid, TaskTimer::capacity, now() + left, &EdfLevel::on_capacity);
    }
}

void EdfLevel::epilogue(Task& task, lib::Ticks elapsed) {
    task_timer_delete_irq_off(task.pid, TaskTimer::capacity);
    Reservation& reserved = reservation(task);
    reserved.used = reserved.used + elapsed;
    if (reserved.used > reserved.wcet) {
        violate(task);
    }
}

void EdfLevel::on_capacity(void* argument) {
    Task& task = *static_cast<Task*>(argument);
    level_of(task).violate(task);
}

void EdfLevel::violate(Task& task) {
    Reservation& reserved = reservation(task);
    if (!reserved.violated) {
        reserved.violated = true;
        trace_points::task_wcet_violated(task);
        raise_exception_irq_off(task, TaskException::wcet);
    }
}

} // namespace kernel
