// SPDX-License-Identifier: MIT
// Applies each record to the model. Places and chains are in model_places.cpp.
#include "host/analyse/oracle/model.hpp"
#include "host/text/format.hpp"

namespace host::analyse::oracle {

using trace::kCodeOf;

std::optional<std::uint64_t> recorded_budget(const trace::Event& event) {
    return event.par2 != kSaturated ? std::optional<std::uint64_t>(event.par2) : std::nullopt;
}

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

Task& Model::task(std::uint16_t context) {
    Task* const known = m_tasks.find(context);
    Task& task = known != nullptr ? *known : new_task(context);
    if (!task.described && m_names != nullptr && task.undescribed_by != m_names->version()) {
        describe(task);
    }
    return task;
}

// Notes what may take a job out of its place, or move it, since the job began.
void Model::note_places(const trace::Event& event) {
    const auto moved = [this](auto&& concerns) {
        for (auto& [context, task] : m_tasks.values()) {
            task.kept_place = task.kept_place && !concerns(task);
        }
    };
    switch (event.code) {
    case kCodeOf<"task_begin_cycle">:
        task(event.par1).kept_place = m_decided && m_decided->exec == event.par1 && m_decided->shadow == event.par1;
        break;
    case kCodeOf<"task_schedule">:
        task(event.par1).kept_place = task(event.par1).kept_place && event.par2 == event.par1;
        break;
    case kCodeOf<"task_block">:
    case kCodeOf<"task_unblock">:
    case kCodeOf<"set_mutex_block">:
    case kCodeOf<"job_release">:
    case kCodeOf<"job_deadline">:
    case kCodeOf<"slice_end">:
        task(event.par1).kept_place = false;
        break;
    case kCodeOf<"server_budget">:
        moved([&](const Task& task) {
            const bool may_be_served =
                task.server ? *task.server == event.par1 : !task.described || task.policy == Policy::unknown;
            return may_be_served && event.par2 == 0;
        });
        break;
    case kCodeOf<"set_mutex_ceiling">:
        moved([](const Task&) { return true; }); // a task that uses it may have been added
        break;
    default:
        break;
    }
}

void Model::apply_dispatch(Task& task) {
    if (m_decided && m_decided->shadow == task.context) {
        m_running = m_decided;
        if (m_decided->exec == task.context) {
            task.may_be_blocked = false; // it runs in its own place, so it lends that to no task
        }
    }
    m_processor_known = m_running.has_value(); // without its decision it is not known whose place it uses
    retry_lock(task);
}

void Model::begin_wait(Task& task, std::uint32_t word) {
    task.ready = Truth::no;
    task.waits = true;
    task.suspended = tracer::wait_kind(word) == lib::WaitKind::suspended;
}

void Model::apply_task(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"task_create">:
        end_task(event.par1);
        task(event.par1).whole = true;
        task(event.par1).ready = Truth::no;
        task(event.par1).may_be_blocked = false;
        break;
    case kCodeOf<"task_activate">:
        if (Task& task = this->task(event.par1); !m_jobs_recorded && task.policy != Policy::edf) {
            task.ready = Truth::unknown; // it is released at once or later: older kernels did not record that
        }
        break;
    case kCodeOf<"task_schedule">:
        apply_schedule(event);
        break;
    case kCodeOf<"task_dispatch">:
        apply_dispatch(task(event.par1));
        break;
    case kCodeOf<"task_epilogue">:
        m_running.reset();
        m_processor_known = true;
        if (Task& task = this->task(event.par1); !m_jobs_recorded && !task.blocked_on) {
            task.ready = Truth::unknown; // it may have begun to wait: older kernels did not record that
        }
        break;
    case kCodeOf<"task_begin_cycle">:
        task(event.par1).begun = Truth::yes;
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"task_sleep">:
    case kCodeOf<"task_disable">:
        task(event.par1).ready = Truth::no;
        task(event.par1).waits = false;
        break;
    case kCodeOf<"task_end">:
        end_task(event.par1);
        break;
    case kCodeOf<"task_block">:
        begin_wait(task(event.par1), event.par2);
        break;
    case kCodeOf<"task_unblock">: {
        Task& task = this->task(event.par1);
        if (tracer::wait_kind(event.par2) != lib::WaitKind::suspended) {
            insert(task);
        } else {
            // A suspended task keeps its place; a task that was waiting was inserted again without a record.
            task.sequence = task.suspended ? task.sequence : 0;
            task.ready = Truth::yes;
        }
        task.suspended = false;
        task.waits = false;
        break;
    }
    default:
        break;
    }
}

void Model::apply_mutex(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"set_mutex_create">:
        m_mutexes.try_emplace(event.par2); // it is new, but does not have the stack protocol
        note_mutex(event.par2) = {.protocol = Protocol::inheritance, .ceiling_us = {}, .known = true, .noted = true};
        break;
    case kCodeOf<"set_mutex_protocol">: {
        m_acquires_recorded = true;
        Mutex& mutex = note_mutex(event.par2);
        mutex.protocol = lib::number_from<Protocol>(event.par1);
        mutex.protocol_recorded = true;
        if (mutex.known && !mutex.ceiling_us) {
            mutex.ceiling_us = kNoCeiling; // each change is recorded, so it has no ceiling yet
        }
        m_stack = m_stack || !mutex.protocol || mutex.protocol == Protocol::stack;
        break;
    }
    case kCodeOf<"set_mutex_ceiling">:
        note_mutex(event.par1).ceiling_us = event.par2;
        break;
    case kCodeOf<"set_mutex_lock">:
        if (!acquires_recorded()) {
            Mutex& mutex = note_mutex(event.par2);
            Task& task = this->task(event.par1);
            if (mutex.known && mutex.owner == 0) {
                mutex.owner = event.par1;
            } else {
                task.blocked_on = event.par2;
            }
        }
        break;
    case kCodeOf<"set_mutex_acquire">: {
        m_acquires_recorded = true;
        Mutex& mutex = note_mutex(event.par2);
        mutex.known = true;
        mutex.owner = event.par1;
        task(event.par1).blocked_on.reset();
        task(event.par1).may_be_blocked = false;
        break;
    }
    case kCodeOf<"set_mutex_block">:
        m_acquires_recorded = true;
        task(event.par1).blocked_on = event.par2;
        break;
    case kCodeOf<"set_mutex_deadlock">:
    case kCodeOf<"set_mutex_timeout">:
        task(event.par1).blocked_on.reset();
        break;
    case kCodeOf<"set_mutex_unlock">:
    case kCodeOf<"set_mutex_owner_died">: {
        Mutex& mutex = note_mutex(event.par2);
        mutex.known = true;
        mutex.owner = 0;
        break;
    }
    default:
        break;
    }
}

void Model::apply(const trace::Event& event) {
    note_places(event);
    switch (static_cast<tracer::Family>(event.code & 0x0F)) {
    case tracer::Family::general:
        if (event.code == kCodeOf<"id">) {
            task(event.par1);
        } else if (event.code == kCodeOf<"trace_start">) {
            // In the boot context no task has run yet, and each existing task is recorded.
            begin_trace(event.par1 == 0 && !m_had_tasks);
        }
        break;
    case tracer::Family::task:
        apply_task(event);
        break;
    case tracer::Family::job:
        apply_job(event);
        break;
    case tracer::Family::attribute:
        if (event.code == kCodeOf<"set_priority">) {
            apply_priority(event);
        }
        break;
    case tracer::Family::mutex:
        apply_mutex(event);
        break;
    case tracer::Family::server:
        apply_server(event);
        break;
    case tracer::Family::ipoint:
    case tracer::Family::interrupt:
    case tracer::Family::cpu:
    case tracer::Family::signal:
    case tracer::Family::user:
    case tracer::Family::data:
    case tracer::Family::timer:
    case tracer::Family::metadata:
    case tracer::Family::typed:
    case tracer::Family::filter:
        break;
    }
}

Task& Model::new_task(std::uint16_t context) {
    Task& task = m_tasks[context];
    m_had_tasks = true;
    task.context = context;
    task.may_be_blocked = m_forgot;
    if (const auto attached = m_attached.find(context); attached != m_attached.end()) {
        task.server = attached->second;
    }
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
    const auto kind = m_names->level_kind(task.parameters.level);
    task.policy =
        kind ? policy_of_kind(*kind) : policy_of_level(m_names->find(tracer::Unit::level, task.parameters.level));
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

void Model::apply_job(const trace::Event& event) {
    Task& task = this->task(event.par1);
    m_jobs_recorded = true;
    switch (event.code) {
    case kCodeOf<"job_release">:
        insert(task);
        task.may_be_blocked = false; // the job before is complete, so it waits for nothing
        task.waits = false;
        task.begun = Truth::no;
        task.release = m_times.release(event.par1);
        task.deadline.reset();
        break;
    case kCodeOf<"job_deadline">:
        take_deadline(task);
        task.sequence = ++m_sequence;
        break;
    case kCodeOf<"job_abort">:
        task.ready = Truth::no;
        task.waits = false;
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

// If the trace does not record jobs, this record is the release itself.
void Model::apply_priority(const trace::Event& event) {
    Task& task = this->task(event.par1);
    take_deadline(task);
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

void Model::take_deadline(Task& task) {
    task.deadline = m_times.deadline_about(task.context);
    task.deadline_slack = m_times.deadline(task.context) || !timed() ? 0 : to_ticks(1'000) + 1;
    if (task.server && m_servers.contains(*task.server)) {
        note_server(*task.server).deadline = m_times.server_deadline(*task.server);
    }
}

// A length of time that does not fit a record is known if the server's own task has it as a parameter.
void Model::describe_server(const Task& task) {
    Server& server = m_servers[*task.server];
    server.period_ns = m_times.server_period_ns(*task.server).value_or(0);
    server.capacity_ns = server.capacity_ns != 0 ? server.capacity_ns : task.parameters.budget_ns;
}

// Older kernels recorded neither the acquisition nor the blocking: a free mutex is acquired at the attempt, a held one
// when the waiter runs again and finds it free.
void Model::retry_lock(Task& task) {
    if (acquires_recorded() || !task.blocked_on) {
        return;
    }
    Mutex& mutex = note_mutex(*task.blocked_on);
    if (mutex.known && mutex.owner == 0) {
        mutex.owner = task.context;
        task.blocked_on.reset();
    }
}

void Model::apply_server(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"server_create">:
        remove_server(static_cast<std::uint16_t>(event.par2));
        note_server(static_cast<std::uint16_t>(event.par2)) = {.whole = true, .requests_known = true, .noted = true};
        break;
    case kCodeOf<"server_attach">: {
        Task& task = this->task(static_cast<std::uint16_t>(event.par2));
        task.server = event.par1;
        m_attached[task.context] = event.par1;
        describe(task);
        describe_server(task);
        break;
    }
    case kCodeOf<"server_kind">:
        set_kind(m_servers[static_cast<std::uint16_t>(event.par2)],
                 policy_of_level(tracer::word_for(lib::kWords<lib::ServerKind>, event.par1)));
        break;
    case kCodeOf<"server_capacity">:
        m_servers[event.par1].capacity_ns = event.par2 != kSaturated ? event.par2 : 0;
        break;
    case kCodeOf<"server_period">:
        m_servers[event.par1].period_ns = m_times.server_period_ns(event.par1).value_or(0);
        break;
    case kCodeOf<"server_budget">:
        note_server(event.par1).budget = recorded_budget(event);
        break;
    case kCodeOf<"server_deadline">:
        note_server(event.par1).deadline = m_times.server_deadline(event.par1);
        break;
    case kCodeOf<"server_remove">:
        remove_server(static_cast<std::uint16_t>(event.par2));
        break;
    default:
        break;
    }
}

// The theories have judged the decision before; now it resolves what was unknown.
void Model::apply_schedule(const trace::Event& event) {
    const auto exec = static_cast<std::uint16_t>(event.par2);
    for (const std::uint16_t context : {exec, event.par1}) {
        Task& task = this->task(context);
        task.ready = task.ready == Truth::unknown ? Truth::yes : task.ready;
    }
    if (m_jobs_recorded && task(exec).idle && exec == event.par1) {
        resolve_idle();
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
    m_attached.erase(context);
}

} // namespace host::analyse::oracle
