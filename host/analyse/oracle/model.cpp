// SPDX-License-Identifier: MIT
// Applies the records to the model that model.hpp does not handle inline. Places and chains are in model_places.cpp.
#include "host/analyse/oracle/model.hpp"
#include "host/text/format.hpp"

namespace host::analyse::oracle {

using trace::kCodeOf;

const Mutex* Model::mutex(std::uint32_t id) const {
    const auto entry = m_mutexes.find(id);
    return entry != m_mutexes.end() ? &entry->second : nullptr;
}

const Server* Model::server_of(const Task& task) const {
    const auto entry = task.server ? m_servers.find(*task.server) : m_servers.end();
    return entry != m_servers.end() ? &entry->second : nullptr;
}

std::string Model::name(std::uint16_t context) const {
    const std::string_view name =
        m_names != nullptr ? m_names->find(tracer::Unit::context, context) : std::string_view();
    return name.empty() ? fmt::format("context {}", context) : fmt::format("{} ({})", name, context);
}

void Model::apply(const trace::Event& event) {
    apply(event, event.code);
}

Task& Model::new_task(std::uint16_t context) {
    Task& task = m_tasks[context];
    task.context = context;
    task.may_be_blocked = m_forgot;
    return task;
}

// If the level does not have the name of a policy, the task's policy is unknown, and what follows from it is undecided.
void Model::describe(Task& task) const {
    const trace::TaskNames* const known = m_names != nullptr ? m_names->task(task.context) : nullptr;
    if (known == nullptr || !known->parameters) {
        task.undescribed_by = m_names != nullptr ? m_names->version() : task.undescribed_by;
        return;
    }
    task.described = true;
    task.parameters = *known->parameters;
    task.policy = policy_of_level(m_names->find(tracer::Unit::level, task.parameters.level));
    if (const Server* const server = server_of(task); server != nullptr && server->kind != Policy::unknown) {
        task.policy = server->kind; // the kind of its server says more than the name of its level
    }
    task.slice_ticks = timed() ? to_ticks(task.parameters.budget_ns) : 0;
    task.idle = task.policy == Policy::background && known->name == "idle";
}

void Model::set_rate(std::uint32_t khz) {
    if (khz != m_rate.khz) {
        m_rate.khz = khz;
        for (auto& [context, task] : m_tasks.values()) {
            task.slice_ticks = timed() ? to_ticks(task.parameters.budget_ns) : 0;
        }
    }
}

void Model::insert(Task& task) {
    task.ready = Truth::yes; // if the task is suspended, the next record states that it is not in the queue
    task.sequence = ++m_sequence;
}

void Model::forget() {
    m_tasks.clear();
    m_forgot = true;
    for (auto& [id, mutex] : m_mutexes) {
        mutex.known = false;
        mutex.ceiling_us.reset();
    }
    for (auto& [id, server] : m_servers) {
        server.budget.reset();
        server.deadline.reset();
    }
    m_running.reset();
    m_decided.reset();
    m_complete = false;
}

void Model::apply_job(const trace::Event& event) {
    Task& task = this->task(event.par1);
    switch (event.code) {
    case kCodeOf<"job_release">:
        m_jobs_recorded = true;
        insert(task);
        task.begun = Truth::no;
        task.release = trace::nearest_time(event.par2, event.ticks.value);
        task.deadline.reset();
        task.deadline_us.reset();
        task.deadline_low.reset();
        break;
    case kCodeOf<"job_deadline">:
        task.deadline_low = event.par2;
        combine_deadline(task, event.ticks.value);
        task.sequence = ++m_sequence;
        break;
    case kCodeOf<"job_abort">:
        task.ready = Truth::no;
        task.blocked_on.reset();
        free_mutexes(event.par1);
        break;
    case kCodeOf<"slice_end">:
        if (task.ready == Truth::yes) {
            insert(task);
        }
        break;
    default:
        break;
    }
}

// If the trace records jobs, the microseconds only select one of the times with the same low 32 bits. Otherwise this
// record is the release itself.
void Model::apply_priority(const trace::Event& event) {
    Task& task = this->task(event.par1);
    task.deadline_us = event.par2;
    combine_deadline(task, event.ticks.value);
    if (m_jobs_recorded) {
        return;
    }
    if (task.ready == Truth::no) {
        task.begun = Truth::no;
    }
    if (task.ready != Truth::unknown) {
        insert(task);
    }
}

void Model::combine_deadline(Task& task, std::uint64_t stamp) const {
    std::uint64_t about = stamp;
    if (task.deadline_us && timed()) {
        const std::uint64_t us =
            trace::nearest_time(static_cast<std::uint32_t>(*task.deadline_us), to_ns(stamp) / 1'000);
        about = to_ticks(us * 1'000);
        task.deadline = about;
        task.deadline_slack = to_ticks(1'000) + 1;
    }
    if (task.deadline_low) {
        task.deadline = trace::nearest_time(*task.deadline_low, about);
        task.deadline_slack = 0;
        if (task.deadline_us) { // both records of this deadline have come: the next one is of another deadline
            task.deadline_us.reset();
            task.deadline_low.reset();
        }
    }
}

// Older kernels recorded neither the acquisition nor the blocking: a free mutex is acquired at the attempt, a held one
// when the waiter runs again and finds it free.
void Model::retry_lock(Task& task) {
    if (acquires_recorded() || !task.blocked_on) {
        return;
    }
    Mutex& mutex = m_mutexes[*task.blocked_on];
    if (mutex.known && mutex.owner == 0) {
        mutex.owner = task.context;
        task.blocked_on.reset();
    }
}

void Model::apply_server(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"server_create">:
        m_servers[static_cast<std::uint16_t>(event.par2)] = {};
        break;
    case kCodeOf<"server_attach">: {
        Task& task = this->task(static_cast<std::uint16_t>(event.par2));
        task.server = event.par1;
        describe(task);
        break;
    }
    case kCodeOf<"server_kind">:
        m_servers[static_cast<std::uint16_t>(event.par2)].kind =
            policy_of_level(tracer::word_for(lib::kWords<lib::ServerKind>, event.par1));
        break;
    case kCodeOf<"server_capacity">:
        m_servers[event.par1].capacity_ns = event.par2;
        break;
    case kCodeOf<"server_period">:
        m_servers[event.par1].period_ns = event.par2;
        break;
    case kCodeOf<"server_budget">:
        m_servers[event.par1].budget = event.par2;
        break;
    case kCodeOf<"server_deadline">:
        m_servers[event.par1].deadline = trace::nearest_time(event.par2, event.ticks.value);
        break;
    case kCodeOf<"server_remove">:
        m_servers.erase(static_cast<std::uint16_t>(event.par2));
        break;
    default:
        break;
    }
}

// The theories have judged the decision before; now it resolves what was unknown. If the idle task runs, no other task
// is ready.
void Model::apply_schedule(const trace::Event& event) {
    const auto exec = static_cast<std::uint16_t>(event.par2);
    for (const std::uint16_t context : {exec, event.par1}) {
        Task& task = this->task(context);
        task.ready = task.ready == Truth::unknown ? Truth::yes : task.ready;
    }
    if (m_jobs_recorded && task(exec).idle && exec == event.par1) {
        for (auto& [context, task] : m_tasks.values()) {
            task.ready = task.ready == Truth::unknown && !task.idle ? Truth::no : task.ready;
            // A task that waits for a mutex lends its place, which precedes that of the idle task.
            task.may_be_blocked = false;
        }
        m_forgot = false;
        m_complete = true;
    }
    m_decided = Running{.exec = exec, .shadow = event.par1, .since = event.ticks.value};
}

void Model::free_mutexes(std::uint16_t context) {
    for (auto& [id, mutex] : m_mutexes) {
        if (mutex.known && mutex.owner == context) {
            mutex.owner = 0;
        }
    }
}

void Model::end_task(std::uint16_t context) {
    free_mutexes(context);
    m_tasks.erase(context);
}

} // namespace host::analyse::oracle
