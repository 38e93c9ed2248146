// SPDX-License-Identifier: MIT
#include "host/schedule/base_priority.hpp"

#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace host::schedule {

namespace {

using trace::kCodeOf;

constexpr std::uint32_t kAfterAllLevels = 0x1'0000;
constexpr std::uint64_t kNsPerUs = 1000;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

// Returns the level in whose queue the tasks of a guest level are: the first level of this name, or their own level if
// there is none.
std::uint32_t level_named(const trace::Names& names, std::string_view name, std::uint32_t own) {
    constexpr std::uint32_t kLevelsMax = 32;
    for (std::uint32_t level = 0; level < kLevelsMax; ++level) {
        if (names.find(tracer::Unit::level, level) == name) {
            return level;
        }
    }
    return own;
}

} // namespace

BasePriorities::Task& BasePriorities::task(std::uint16_t context) {
    if (context >= m_tasks.size()) {
        m_tasks.resize(std::size_t{context} + 1);
    }
    return m_tasks[context];
}

void BasePriorities::describe(const trace::Names& names) {
    for (const auto& [context, known] : names.tasks()) {
        if (!known.parameters) {
            continue;
        }
        Task& task = this->task(context);
        const tracer::TaskParameters& parameters = *known.parameters;
        const std::string_view level = names.find(tracer::Unit::level, parameters.level);
        task.level = parameters.level;
        task.relative_ns = parameters.deadline_ns != 0 ? parameters.deadline_ns : parameters.period_ns;
        if (is_one_of(level, {"EDF", "CBS", "GRUB"})) {
            task.queue = Queue::deadline;
            task.level = level_named(names, "EDF", parameters.level);
        } else if (is_one_of(level, {"RM", "PS", "DS", "polling", "deferrable", "SERVED"})) {
            task.queue = Queue::fixed;
            task.level = level_named(names, "RM", parameters.level);
        } else if (is_one_of(level, {"RR", "background"})) {
            task.queue = known.name == "idle" && level == "background" ? Queue::idle : Queue::last;
        }
    }
}

// A longer deadline holds at once, a shorter one from the next release on.
void BasePriorities::change_deadline(Task& task, std::uint64_t relative_ns) {
    task.next_ns = relative_ns;
    if (relative_ns > task.changed_ns.value_or(task.relative_ns)) {
        task.changed_ns = relative_ns;
    }
}

void BasePriorities::follow(const trace::Event& event, const trace::RecordedTimes& times) {
    switch (event.code) {
    case kCodeOf<"job_deadline">:
    case kCodeOf<"set_priority">:
        task(event.par1).deadline = {times.deadline(event.par1), m_forgotten};
        break;
    case kCodeOf<"deadline_change">:
        change_deadline(task(event.par1), event.par2 * kNsPerUs);
        break;
    case kCodeOf<"job_release">:
        if (Task& released = task(event.par1); released.next_ns) {
            released.changed_ns = std::exchange(released.next_ns, std::nullopt);
        }
        break;
    case kCodeOf<"task_create">:
        task(event.par1).changed_ns.reset();
        task(event.par1).next_ns.reset();
        task(event.par1).deadline = {};
        task(event.par1).server.reset();
        break;
    case kCodeOf<"server_create">:
        m_servers[event.par2] = {};
        break;
    case kCodeOf<"server_attach">:
        if (event.par2 < kContexts) {
            task(static_cast<std::uint16_t>(event.par2)).server = event.par1;
        }
        break;
    case kCodeOf<"server_kind">: {
        const auto kind = lib::number_from<lib::ServerKind>(event.par1);
        m_servers[event.par2].throttles = kind == lib::ServerKind::polling || kind == lib::ServerKind::deferrable;
        break;
    }
    case kCodeOf<"server_period">:
        m_servers[event.par1].period_ns = times.server_period_ns(event.par1);
        break;
    case kCodeOf<"server_budget">:
        m_servers[event.par1].budget = {event.par2, m_forgotten};
        break;
    default:
        break;
    }
}

inline BasePriorities::Key BasePriorities::key_of(std::uint32_t context) const {
    if (context >= m_tasks.size()) {
        return {};
    }
    const Task& task = m_tasks[context];
    switch (task.queue) {
    case Queue::deadline: {
        const auto deadline = task.deadline.at(m_forgotten);
        return {task.level, true, deadline.has_value(), deadline.value_or(0)};
    }
    case Queue::fixed: {
        const auto server = task.server ? m_servers.find(*task.server) : m_servers.end();
        if (server != m_servers.end() && server->second.throttles.value_or(false)) {
            return {task.level, true, server->second.period_ns.has_value(), server->second.period_ns.value_or(0)};
        }
        const std::uint64_t relative_ns = task.changed_ns.value_or(task.relative_ns);
        return {task.level, true, relative_ns != 0, relative_ns}; // 0: it has a server that no record states
    }
    case Queue::last:
        return {task.level, true, true};
    case Queue::idle:
        return {kAfterAllLevels, true, true};
    case Queue::unknown:
        break;
    }
    return {};
}

Order BasePriorities::order(std::uint32_t a, std::uint32_t b) const {
    const Key key_a = key_of(a);
    const Key key_b = key_of(b);
    if (!key_a.is_known || !key_b.is_known) {
        return Order::unknown;
    }
    if (key_a.level != key_b.level) {
        return key_a.level < key_b.level ? Order::higher : Order::lower;
    }
    if (!key_a.has_key || !key_b.has_key) {
        return Order::unknown;
    }
    return key_a.key < key_b.key ? Order::higher : key_b.key < key_a.key ? Order::lower : Order::equal;
}

std::optional<std::uint32_t> BasePriorities::used_up(std::uint32_t number) const {
    const auto server = m_servers.find(number);
    const bool is_used_up = server != m_servers.end() && server->second.throttles.value_or(false) &&
                            server->second.budget.at(m_forgotten) == 0U;
    return is_used_up ? std::optional(number) : std::nullopt;
}

bool BasePriorities::may_be_throttled(std::uint32_t context) const {
    if (context >= m_tasks.size()) {
        return false;
    }
    const Task& task = m_tasks[context];
    if (!task.server) {
        return task.queue == Queue::fixed && task.relative_ns == 0; // the record of its server is lost
    }
    const auto found = m_servers.find(*task.server);
    return found == m_servers.end() || !found->second.throttles ||
           (*found->second.throttles && !found->second.budget.at(m_forgotten));
}

} // namespace host::schedule
