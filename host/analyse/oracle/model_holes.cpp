// SPDX-License-Identifier: MIT
// What the model knows at the beginning of a trace and after a hole in it, and what the idle task's turn then shows.
#include "host/analyse/oracle/model.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse::oracle {

Mutex& Model::make_mutex(std::uint32_t id) {
    const auto [entry, is_new] = m_mutexes.try_emplace(id);
    m_stack = m_stack || is_new;
    return entry->second;
}

Mutex& Model::note_mutex(std::uint32_t id) {
    Mutex& mutex = make_mutex(id);
    if (!std::exchange(mutex.noted, true)) {
        m_known_mutexes.push_back(id);
    }
    return mutex;
}

Server& Model::note_server(std::uint16_t id) {
    Server& server = m_servers[id];
    if (!std::exchange(server.noted, true)) {
        m_known_servers.push_back(id);
    }
    return server;
}

// A mutex may have been created meanwhile. A protocol that was only assumed is not known once protocols are recorded.
void Model::forget_mutexes() {
    const trace::Names::Table* const named = m_names->entries(tracer::Unit::mutex);
    if (m_named != m_names->version() && named != nullptr) {
        for (const auto& [id, name] : *named) {
            static_cast<void>(make_mutex(id));
        }
    }
    m_named = m_names->version();
    if (acquires_recorded() && !std::exchange(m_protocols_recorded, true)) {
        for (const auto& [id, mutex] : m_mutexes) {
            static_cast<void>(note_mutex(id));
        }
    }
    for (const std::uint32_t id : m_known_mutexes) {
        Mutex& mutex = m_mutexes[id];
        mutex.known = mutex.noted = false;
        mutex.ceiling_us.reset();
        if (!mutex.protocol_recorded && acquires_recorded()) {
            mutex.protocol.reset();
            m_stack = true;
        }
    }
    m_known_mutexes.clear();
}

void Model::forget() {
    m_times.forget();
    m_tasks.clear();
    m_forgot = true;
    forget_mutexes();
    for (const std::uint16_t id : m_known_servers) {
        if (const auto server = m_servers.find(id); server != m_servers.end()) {
            server->second = {.kind = server->second.kind,
                              .capacity_ns = server->second.capacity_ns,
                              .period_ns = server->second.period_ns};
        }
    }
    m_known_servers.clear();
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
        m_known_mutexes.clear();
        m_named = kNoVersion;
        m_servers.clear();
        m_known_servers.clear();
        m_reclaiming = 0;
        m_attached.clear();
    }
}

void Model::set_kind(Server& server, Policy kind) {
    m_reclaiming += kind == Policy::grub ? 1 : 0;
    m_reclaiming -= server.kind == Policy::grub ? 1 : 0;
    server.kind = kind;
}

void Model::remove_server(std::uint16_t id) {
    if (const auto server = m_servers.find(id); server != m_servers.end()) {
        set_kind(server->second, Policy::unknown);
        m_servers.erase(server);
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
    for (const std::uint16_t id : m_known_servers) {
        if (const auto server = m_servers.find(id); server != m_servers.end()) {
            server->second.requests_known = server->second.requests_known || server->second.budget.value_or(0) != 0;
        }
    }
    m_forgot = false;
    m_complete = true;
}

} // namespace host::analyse::oracle
