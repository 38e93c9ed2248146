// SPDX-License-Identifier: MIT
// What the model knows at the beginning of a trace and after a hole in it, and what the idle task's turn then shows.
#include "host/analyse/oracle/model.hpp"

#include <algorithm>

namespace host::analyse::oracle {

Mutex& Model::make_mutex(std::uint32_t id) {
    const auto [entry, is_new] = m_mutexes.try_emplace(id);
    m_stack = m_stack || is_new;
    return entry->second;
}

void Model::forget() {
    m_times.forget();
    m_tasks.clear();
    m_forgot = true;
    if (const trace::Names::Table* const named = m_names->entries(tracer::Unit::mutex); named != nullptr) {
        for (const auto& [id, name] : *named) {
            static_cast<void>(make_mutex(id)); // it may have been created meanwhile
        }
    }
    for (auto& [id, mutex] : m_mutexes) {
        mutex.known = false;
        mutex.ceiling_us.reset();
        if (!mutex.protocol_recorded && acquires_recorded()) {
            mutex.protocol.reset();
            m_stack = true;
        }
    }
    for (auto& [id, server] : m_servers) {
        server.whole = false;
        server.requests_known = false;
        server.budget.reset();
        server.deadline.reset();
    }
    m_running.reset();
    m_decided.reset();
    m_complete = false;
    m_whole = false;
    m_processor_known = false;
}

void Model::begin_trace(bool at_boot) {
    m_complete = m_whole = m_processor_known = at_boot;
    if (at_boot) {
        m_forgot = m_stack = false;
        m_mutexes.clear();
        m_servers.clear();
        m_attached.clear();
    }
}

bool Model::may_block(const Mutex& mutex) const {
    return !mutex.known || mutex.owner != 0;
}

// The idle task runs, so no other place leads to a task that can run: neither a task nor its server's request is ready,
// unless it waits for a mutex whose owner does not run, or its server has no budget.
void Model::resolve_idle() {
    if (std::ranges::any_of(m_mutexes, [this](const auto& entry) { return may_block(entry.second); })) {
        return;
    }
    for (auto& [context, task] : m_tasks.values()) {
        task.may_be_blocked = false;
        const bool is_queued_if_ready = task.policy != Policy::unknown && has_budget(task) == Truth::yes;
        if (task.ready == Truth::unknown && !task.idle && is_queued_if_ready) {
            task.ready = Truth::no;
        }
    }
    for (auto& [id, server] : m_servers) {
        server.requests_known = server.requests_known || (server.budget && *server.budget != 0);
    }
    m_forgot = false;
    m_complete = true;
}

} // namespace host::analyse::oracle
