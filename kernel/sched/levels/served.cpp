// SPDX-License-Identifier: MIT
// Implements the rules of served.hpp. Each server has a timer for its replenishment; a task's delay timer is an
// activation in the future.
#include "kernel/sched/levels/served.hpp"

#include "kernel/sched/levels/level_parts.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/time/budget_end.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/schedule.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

constinit ServedLevel* s_level = nullptr;

ServedLevel& served_level_of(const Task& task) {
    return static_cast<ServedLevel&>(*task.level);
}

} // namespace

void use_served_level(ServedLevel& level) {
    s_level = &level;
}

lib::Result<ServerId> server_create(const ServerOptions& options) {
    const IrqGuard off;
    if (s_level == nullptr) {
        return lib::Error::unsupported;
    }
    return s_level->create_server(options, off);
}

lib::Result<void> server_remove(ServerId server) {
    const IrqGuard off;
    if (s_level == nullptr) {
        return lib::Error::not_found;
    }
    return s_level->remove_server(server, off);
}

lib::Result<ServerInfo> server_info(ServerId server) {
    const IrqGuard guard;
    if (s_level == nullptr) {
        return lib::Error::not_found;
    }
    return s_level->info(server);
}

ServedLevel::Server* ServedLevel::find(ServerId id) {
    for (Server& known : m_servers) {
        if (known.id == id.value && id.value != 0) {
            return &known;
        }
    }
    return nullptr;
}

lib::Result<ServerId> ServedLevel::create_server(const ServerOptions& options, IrqOff off) {
    const bool known = options.kind == ServerKind::polling || options.kind == ServerKind::deferrable;
    if (!known || options.budget < kServerBudgetMin || options.budget > options.period) {
        return lib::Error::invalid_argument;
    }
    std::size_t free = 0;
    while (free < kServersMax && m_servers[free].id != 0) {
        ++free;
    }
    if (free == kServersMax) {
        return lib::Error::no_space;
    }
    // A budget that is kept may be used at the end of one period and again at the start of the next.
    const bool kept = options.kind == ServerKind::deferrable;
    const Demand wanted{options.budget.value, options.period.value, options.period.value,
                        kept ? (options.period - options.budget).value : 0};
    Reservations& reservations = m_host.reservations();
    if (!reservations.admits(Claim::fixed, wanted)) {
        return lib::Error::refused;
    }
    reservations.set(Reservations::slot_of_server(free), Claim::fixed, wanted, off);
    Server& created = m_servers[free];
    created.id = fresh_server_id(off);
    created.kind = options.kind;
    created.tasks = 0;
    created.budget = to_ticks(options.budget);
    created.period = options.period;
    created.left = {};
    created.origin = now();
    created.periods = 0;
    created.exhausted = 0;
    created.level = this;
    trace_points::server_created(created.id, options.name, options.kind, options.budget, options.period);
    replenish(created, off);
    return ServerId{created.id};
}

lib::Result<void> ServedLevel::remove_server(ServerId id, IrqOff off) {
    Server* const known = find(id);
    if (known == nullptr) {
        return lib::Error::not_found;
    }
    if (known->tasks != 0) {
        return lib::Error::busy;
    }
    server_timer_delete(slot_of(*known), off);
    trace_points::server_removed(known->id);
    known->id = 0;
    m_host.reservations().retire(Reservations::slot_of_server(slot_of(*known)), off);
    return {};
}

lib::Result<ServerInfo> ServedLevel::info(ServerId id) {
    const Server* const known = find(id);
    if (known == nullptr) {
        return lib::Error::not_found;
    }
    return ServerInfo{known->kind, known->left, next_replenishment(*known), known->exhausted, known->tasks};
}

lib::Ticks ServedLevel::next_replenishment(const Server& server) {
    return server.origin + to_ticks({server.period.value * server.periods});
}

// The replenishments are counted from the origin, so that nothing drifts. Periods for which the machine was too late
// are passed over.
void ServedLevel::replenish(Server& server, IrqOff off) {
    Task* const exec = this_processor().exec;
    const bool running = exec != nullptr && exec->level == this && &this->server(*exec) == &server;
    if (running) {
        charge(*exec, off);
    }
    do {
        ++server.periods;
    } while (next_replenishment(server) <= now());
    server_timer_post(slot_of(server), next_replenishment(server), &ServedLevel::on_replenishment, &server, off);
    server.left = server.budget;
    trace_points::server_replenished(server.id);
    trace_points::server_budget(server.id, server.left);
    trace_points::server_refill_due(server, &next_replenishment);
    serve_first(server, off);
    forfeit_if_polling(server);
    if (running && server.front == exec) {
        slot_begin(*exec, off);
        timer_changed(off);
    }
}

void ServedLevel::on_replenishment(void* argument) {
    const IrqOff off = IrqOff::from_entry();
    Server& server = *static_cast<Server*>(argument);
    server.level->replenish(server, off);
    schedule(off);
}

bool ServedLevel::accepts(const TaskModel& model) const {
    return std::holds_alternative<ServedModel>(model);
}

lib::Result<void> ServedLevel::guarantee(const TaskModel& model, IrqOff) {
    return find(model_as<ServedModel>(model).server) != nullptr ? lib::Result<void>{} : lib::Error::not_found;
}

void ServedLevel::create(Task& task, IrqOff) {
    Server* const found = find(model_as<ServedModel>(task.model).server);
    ASSERT(found != nullptr); // guarantee() has found it
    Server& serving = *found;
    m_server_of[task.pid.value] = slot_of(serving);
    m_saved.drop_all(task);
    ++serving.tasks;
    task.state = TaskState::sleeping;
    trace_points::server_attached(serving.id, task);
}

bool ServedLevel::refuses_activation(const Task& task, IrqOff) const {
    return task.state != TaskState::sleeping && model_as<ServedModel>(task.model).overlap == Overlap::refuse;
}

lib::Result<void> ServedLevel::activate(Task& task, lib::Ticks at, IrqOff off) {
    if (task.state != TaskState::sleeping) {
        return m_saved.add(task, model_as<ServedModel>(task.model).overlap, at);
    }
    task.released_at = at;
    if (at <= now()) {
        wake(task, off);
        begin_job(task, at, off);
    } else {
        task.state = TaskState::delayed;
        task_timer_post<&ServedLevel::on_activation>(task, TaskTimer::delay, at, off);
    }
    return {};
}

void ServedLevel::on_activation(Task& task, IrqOff off) {
    served_level_of(task).wake(task, off);
    served_level_of(task).begin_job(task, task.released_at, off);
    schedule(off);
}

// Records the server's state once for all requests that an idle server finds.
void ServedLevel::wake(Task& task, IrqOff off) {
    Server& serving = server(task);
    if (serving.front == nullptr && first_waiting(serving, off) == nullptr) {
        trace_points::server_activated(serving.id, task);
        trace_points::server_budget(serving.id, serving.left);
        trace_points::server_refill_due(serving, &next_replenishment);
    }
}

void ServedLevel::begin_job(Task& task, lib::Ticks at, IrqOff off) {
    ++task.jobs.released;
    task.job_begun = false;
    task.released_at = at;
    trace_points::job_released(task, at);
    arrive(task, off);
}

// Adds a request that is ready to be served, after all others.
void ServedLevel::arrive(Task& task, IrqOff off) {
    Server& serving = server(task);
    task.state = TaskState::ready;
    m_rank[task.pid.value] = ++m_last_rank;
    serving.waiting.insert(task, m_rank[task.pid.value], off);
    serve_first(serving, off);
}

// A suspended request is queued again when a wait for its mutex ends; nothing else looks into this queue.
Task* ServedLevel::first_waiting(Server& server, IrqOff off) {
    Task* next = server.waiting.first();
    while (next != nullptr && next->suspended) {
        park_suspended(*next, off);
        next = server.waiting.first();
    }
    return next;
}

void ServedLevel::serve_first(Server& server, IrqOff off) {
    Task* const next = first_waiting(server, off);
    if (server.front != nullptr || next == nullptr || server.left == lib::Ticks{}) {
        return;
    }
    server.waiting.remove(*next, off);
    server.front = next;
    m_host.queue().insert(*next, server.period.value, off);
}

void ServedLevel::forfeit_if_polling(Server& server) {
    if (server.kind == ServerKind::polling && server.front == nullptr && server.left != lib::Ticks{}) {
        server.left = {};
        trace_points::server_budget(server.id, server.left);
    }
}

// Takes the task out of whatever queue it is in; the next request has its turn.
void ServedLevel::leave(Task& task, IrqOff off) {
    Server& serving = server(task);
    if (serving.front == &task) {
        serving.front = nullptr;
        m_host.queue().remove(task, off);
    } else {
        serving.waiting.remove_if_there(task, off);
    }
    serve_first(serving, off);
}

void ServedLevel::finish_job(Task& task, IrqOff off) {
    ++task.jobs.completed;
    leave(task, off);
    task.state = TaskState::sleeping;
}

JobEnd ServedLevel::end_cycle(Task& task, IrqOff off) {
    trace_points::task_cycle_ended(task);
    finish_job(task, off);
    if (const auto at = m_saved.take(task)) {
        begin_job(task, *at, off);
    }
    forfeit_if_polling(server(task));
    return JobEnd::task_stays;
}

JobEnd ServedLevel::sleep(Task& task, IrqOff off) {
    trace_points::task_disabled(task);
    m_saved.drop_all(task);
    finish_job(task, off);
    forfeit_if_polling(server(task));
    return JobEnd::task_stays;
}

void ServedLevel::block(Task& task, IrqOff off) {
    leave(task, off);
    forfeit_if_polling(server(task));
}

void ServedLevel::unblock(Task& task, IrqOff off) {
    wake(task, off);
    arrive(task, off);
}

void ServedLevel::end(Task& task, IrqOff off) {
    budget_end_delete(task, off);
    leave(task, off);
    forfeit_if_polling(server(task));
    --server(task).tasks;
}

std::uint64_t ServedLevel::preemption_level(const Task& task, IrqOff) const {
    return m_servers[m_server_of[task.pid.value]].period.value;
}

void ServedLevel::slot_begin(Task& task, IrqOff off) {
    Server& serving = server(task);
    serving.begun_at = now();
    budget_end_post(task, serving.begun_at + serving.left, &ServedLevel::on_exhausted, off);
}

// Charges the rest, because parts of the elapsed time may be charged already.
void ServedLevel::slot_end(Task& task, lib::Ticks /*elapsed*/, IrqOff off) {
    budget_end_delete(task, off);
    charge(task, off);
}

void ServedLevel::on_exhausted(Task& task, IrqOff off) {
    served_level_of(task).charge(task, off);
    schedule(off);
}

void ServedLevel::step_back(Server& server, IrqOff off) {
    Task& task = *server.front;
    server.front = nullptr;
    m_host.queue().remove(task, off);
    server.waiting.insert(task, m_rank[task.pid.value], off);
}

void ServedLevel::suspended(Task& task, IrqOff off) {
    Server& serving = server(task);
    if (serving.front == &task) {
        step_back(serving, off);
        serve_first(serving, off);
        forfeit_if_polling(serving);
    }
}

// Serves the first request, because the resumed one may have come before the one that is served.
void ServedLevel::resumed(Task& task, IrqOff off) {
    Server& serving = server(task);
    if (serving.front != nullptr && m_rank[task.pid.value] < m_rank[serving.front->pid.value]) {
        step_back(serving, off);
    }
    serve_first(serving, off);
}

// Charges the time that the running slot has used up to now. If nothing is left the front request steps back; it may be
// another one than the one that has the slot.
void ServedLevel::charge(Task& task, IrqOff off) {
    Server& serving = server(task);
    const lib::Ticks elapsed = now() - serving.begun_at;
    serving.begun_at = serving.begun_at + elapsed;
    if (elapsed < serving.left) {
        serving.left = serving.left - elapsed;
        trace_points::server_budget(serving.id, serving.left);
        return;
    }
    serving.left = {};
    trace_points::server_budget(serving.id, serving.left);
    if (serving.front != nullptr) {
        ++serving.exhausted;
        trace_points::server_exhausted(serving.id);
        step_back(serving, off);
    }
}

} // namespace kernel
