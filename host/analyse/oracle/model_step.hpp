// SPDX-License-Identifier: MIT
// What the frequent records change in the model: to be compiled where the code is a constant (host/trace/by_code.hpp).
#pragma once

#include "host/analyse/oracle/model.hpp"
#include "tracer/record/unit_words.hpp"

namespace host::analyse::oracle {

inline Task& Model::task(std::uint16_t context) {
    Task* const known = m_tasks.find(context);
    Task& task = known != nullptr ? *known : new_task(context);
    if (!task.described && m_names != nullptr && task.undescribed_by != m_names->version()) {
        describe(task);
    }
    return task;
}

// What may take a job out of its place, or move it, since it began.
[[gnu::always_inline]] inline void Model::note_places(const trace::Event& event, std::uint8_t code) {
    const auto moved = [this](auto&& concerns) {
        for (auto& [context, task] : m_tasks.values()) {
            task.kept_place = task.kept_place && !concerns(task);
        }
    };
    switch (code) {
    case trace::kCodeOf<"task_begin_cycle">:
        task(event.par1).kept_place = m_decided && m_decided->exec == event.par1 && m_decided->shadow == event.par1;
        break;
    case trace::kCodeOf<"task_schedule">:
        task(event.par1).kept_place = task(event.par1).kept_place && event.par2 == event.par1;
        break;
    case trace::kCodeOf<"task_block">:
    case trace::kCodeOf<"task_unblock">:
    case trace::kCodeOf<"set_mutex_block">:
    case trace::kCodeOf<"job_release">:
    case trace::kCodeOf<"job_deadline">:
    case trace::kCodeOf<"slice_end">:
        task(event.par1).kept_place = false;
        break;
    case trace::kCodeOf<"server_budget">:
        moved([&](const Task& task) { return task.server == event.par1 && event.par2 == 0; });
        break;
    case trace::kCodeOf<"set_mutex_ceiling">:
        moved([](const Task&) { return true; }); // a user may have come
        break;
    default:
        break;
    }
}

inline void Model::apply_dispatch(Task& task) {
    if (m_decided && m_decided->shadow == task.context) {
        m_running = m_decided;
        if (m_decided->exec == task.context) {
            task.may_be_blocked = false; // it runs in its own place
        }
    }
    retry_lock(task);
}

[[gnu::always_inline]] inline void Model::apply_task(const trace::Event& event, std::uint8_t code) {
    switch (code) {
    case trace::kCodeOf<"task_create">:
        end_task(event.par1);
        task(event.par1).ready = Truth::no;
        task(event.par1).may_be_blocked = false;
        break;
    case trace::kCodeOf<"task_activate">:
        if (Task& task = this->task(event.par1); !m_jobs_recorded && task.policy != Policy::edf) {
            task.ready = Truth::unknown; // at once or later: it was not recorded then
        }
        break;
    case trace::kCodeOf<"task_schedule">:
        apply_schedule(event);
        break;
    case trace::kCodeOf<"task_dispatch">:
        apply_dispatch(task(event.par1));
        break;
    case trace::kCodeOf<"task_epilogue">:
        m_running.reset();
        if (Task& task = this->task(event.par1); !m_jobs_recorded && !task.blocked_on) {
            task.ready = Truth::unknown; // it may have begun to wait: that was not recorded then
        }
        break;
    case trace::kCodeOf<"task_begin_cycle">:
        task(event.par1).begun = Truth::yes;
        break;
    case trace::kCodeOf<"task_end_cycle">:
    case trace::kCodeOf<"task_sleep">:
    case trace::kCodeOf<"task_disable">:
        task(event.par1).ready = Truth::no;
        break;
    case trace::kCodeOf<"task_end">:
        end_task(event.par1);
        break;
    case trace::kCodeOf<"task_block">: {
        Task& task = this->task(event.par1);
        task.ready = Truth::no;
        task.suspended = tracer::wait_kind(event.par2) == lib::WaitKind::suspended;
        break;
    }
    case trace::kCodeOf<"task_unblock">: {
        Task& task = this->task(event.par1);
        if (tracer::wait_kind(event.par2) != lib::WaitKind::suspended) {
            insert(task);
        } else {
            // A suspended task keeps its place; a task that waited was inserted again without a record.
            task.sequence = task.suspended ? task.sequence : 0;
            task.ready = Truth::yes;
        }
        task.suspended = false;
        break;
    }
    default:
        break;
    }
}

[[gnu::always_inline]] inline void Model::apply_mutex(const trace::Event& event, std::uint8_t code) {
    switch (code) {
    case trace::kCodeOf<"set_mutex_create">:
        m_mutexes[event.par2] = Mutex{.protocol = Protocol::inheritance, .ceiling_us = {}, .known = true};
        break;
    case trace::kCodeOf<"set_mutex_protocol">:
        m_acquires_recorded = true;
        m_mutexes[event.par2].protocol = lib::number_from<Protocol>(event.par1).value_or(Protocol::none);
        if (m_mutexes[event.par2].known && !m_mutexes[event.par2].ceiling_us) {
            m_mutexes[event.par2].ceiling_us = kNoCeiling; // each change is recorded
        }
        m_stack = m_stack || event.par1 == static_cast<std::uint16_t>(Protocol::stack);
        break;
    case trace::kCodeOf<"set_mutex_ceiling">:
        m_mutexes[event.par1].ceiling_us = event.par2;
        break;
    case trace::kCodeOf<"set_mutex_lock">:
        if (!acquires_recorded()) {
            Mutex& mutex = m_mutexes[event.par2];
            Task& task = this->task(event.par1);
            if (mutex.known && mutex.owner == 0) {
                mutex.owner = event.par1;
            } else {
                task.blocked_on = event.par2;
            }
        }
        break;
    case trace::kCodeOf<"set_mutex_acquire">: {
        m_acquires_recorded = true;
        Mutex& mutex = m_mutexes[event.par2];
        mutex.known = true;
        mutex.owner = event.par1;
        task(event.par1).blocked_on.reset();
        task(event.par1).may_be_blocked = false;
        break;
    }
    case trace::kCodeOf<"set_mutex_block">:
        m_acquires_recorded = true;
        task(event.par1).blocked_on = event.par2;
        break;
    case trace::kCodeOf<"set_mutex_deadlock">:
    case trace::kCodeOf<"set_mutex_timeout">:
        task(event.par1).blocked_on.reset();
        break;
    case trace::kCodeOf<"set_mutex_unlock">:
    case trace::kCodeOf<"set_mutex_owner_died">: {
        Mutex& mutex = m_mutexes[event.par2];
        mutex.known = true;
        mutex.owner = 0;
        break;
    }
    default:
        break;
    }
}

[[gnu::always_inline]] inline void Model::apply(const trace::Event& event, std::uint8_t code) {
    note_places(event, code);
    switch (static_cast<tracer::Family>(code & 0x0F)) {
    case tracer::Family::general:
        if (code == trace::kCodeOf<"id">) {
            task(event.par1);
        } else if (code == trace::kCodeOf<"trace_start">) {
            m_complete = event.par1 == 0; // the boot context: no task has run, and those that exist are recorded
        }
        break;
    case tracer::Family::task:
        apply_task(event, code);
        break;
    case tracer::Family::job:
        apply_job(event);
        break;
    case tracer::Family::attribute:
        if (code == trace::kCodeOf<"set_priority">) {
            apply_priority(event);
        }
        break;
    case tracer::Family::mutex:
        apply_mutex(event, code);
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

} // namespace host::analyse::oracle
