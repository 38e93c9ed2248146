// SPDX-License-Identifier: MIT
// The tables of Names.
#include "host/trace/names.hpp"

#include <atomic>

namespace host::trace {

template <typename Self>
auto Names::table(Self& names, tracer::Unit unit) -> decltype(&names.m_vectors) {
    using enum tracer::Unit;
    switch (unit) {
    case vector:
        return &names.m_vectors;
    case mutex:
        return &names.m_mutexes;
    case semaphore:
        return &names.m_semaphores;
    case condition:
        return &names.m_conditions;
    case port:
        return &names.m_ports;
    case server:
        return &names.m_servers;
    case level:
        return &names.m_levels;
    case none:
    case number:
    case context:
    case pid:
    case signal:
    case cycles_per_ms:
    case count:
    case timer:
    case pointer:
    case hexadecimal:
    case status:
    case priority:
    case ticks_low:
    case ticks:
    case nanoseconds:
    case microseconds:
    case bandwidth:
    case wait:
    case exception:
    case protocol:
    case server_kind:
    case flow:
    case block:
    case outcome:
    case grain:
    case code:
        return nullptr;
    }
    return nullptr;
}

const Names::Table* Names::entries(tracer::Unit unit) const {
    return table(*this, unit);
}

std::string_view Names::find(tracer::Unit unit, std::uint32_t value) const {
    if (value > 0xFFFF) {
        return {};
    }
    const auto id = static_cast<std::uint16_t>(value);
    if (unit == tracer::Unit::context) {
        const TaskNames* const known = task(id);
        return known != nullptr ? std::string_view(known->name) : std::string_view();
    }
    const Table* const names = table(*this, unit);
    if (names == nullptr) {
        return {};
    }
    const auto entry = names->find(id);
    return entry != names->end() ? std::string_view(entry->second) : std::string_view();
}

const TaskNames* Names::task(std::uint16_t context) const {
    const auto entry = m_tasks.find(context);
    return entry != m_tasks.end() ? &entry->second : nullptr;
}

std::uint64_t Names::next_version() {
    static std::atomic<std::uint64_t> latest{0};
    return latest.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Names::set(tracer::Unit unit, std::uint16_t id, std::string_view name) {
    m_version = next_version();
    if (unit == tracer::Unit::context) {
        m_tasks[id].name = name;
        return;
    }
    if (Table* const names = table(*this, unit); names != nullptr) {
        (*names)[id] = name;
    }
}

void Names::set_pid(std::uint16_t context, std::uint32_t pid) {
    m_tasks[context].pid = pid;
}

void Names::set_parameters(const tracer::TaskParameters& parameters) {
    m_tasks[parameters.context].parameters = parameters;
}

const tracer::EventDeclaration* Names::declaration(std::uint16_t id) const {
    const auto entry = m_declarations.find(id);
    return entry != m_declarations.end() ? entry->second.get() : nullptr;
}

void Names::declare(const tracer::EventDeclaration& declaration) {
    auto& known = m_declarations[declaration.id];
    if (known == nullptr || *known != declaration) {
        known = std::make_shared<const tracer::EventDeclaration>(declaration);
    }
}

} // namespace host::trace
