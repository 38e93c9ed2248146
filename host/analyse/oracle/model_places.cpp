// SPDX-License-Identifier: MIT
// Places in the queues, and chains of owners. The first comment of model.hpp describes both.
#include "host/analyse/oracle/model.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::analyse::oracle {

namespace {

bool queues_with_edf(Policy policy) {
    return policy == Policy::edf || policy == Policy::cbs || policy == Policy::grub;
}

bool is_server(Policy policy) {
    return policy == Policy::polling || policy == Policy::deferrable;
}

Truth truth_of(bool value) {
    return value ? Truth::yes : Truth::no;
}

} // namespace

Policy policy_of_level(std::string_view name) {
    static constexpr auto kNames = std::to_array<std::pair<std::string_view, Policy>>({
        {"RM", Policy::fixed},
        {"EDF", Policy::edf},
        {"CBS", Policy::cbs},
        {"GRUB", Policy::grub},
        {"PS", Policy::polling},
        {"polling", Policy::polling},
        {"DS", Policy::deferrable},
        {"deferrable", Policy::deferrable},
        {"RR", Policy::round_robin},
        {"background", Policy::background},
    });
    for (const auto& [known, policy] : kNames) {
        if (name == known) {
            return policy;
        }
    }
    return Policy::unknown;
}

Policy policy_of_kind(lib::LevelKind kind) {
    switch (kind) {
    case lib::LevelKind::round_robin:
        return Policy::round_robin;
    case lib::LevelKind::fixed_priority:
        return Policy::fixed;
    case lib::LevelKind::edf:
        return Policy::edf;
    case lib::LevelKind::background:
        return Policy::background;
    case lib::LevelKind::other:
    case lib::LevelKind::fifo: // a level of its own in no kernel whose decisions are recorded so far
    case lib::LevelKind::scan:
        return Policy::unknown;
    }
    return Policy::unknown;
}

bool Model::has_no_server(const Task& task) const {
    return !task.server && (task.policy == Policy::fixed || task.policy == Policy::edf ||
                            task.policy == Policy::round_robin || task.policy == Policy::background);
}

// Unknown if a request began to wait before it was suspended: its turn is not recorded.
Truth Model::is_front_of_server(const Task& task) const {
    const Server* const server = server_of(task);
    Truth front = server != nullptr && server->requests_known ? Truth::yes : Truth::unknown;
    for (const auto& [context, other] : m_tasks.values()) {
        if (&other == &task || other.server != task.server || other.ready == Truth::no) {
            continue;
        }
        if (other.ready == Truth::unknown || other.sequence == 0 || task.sequence == 0) {
            front = Truth::unknown;
        } else if (other.sequence < task.sequence) {
            return Truth::no;
        }
    }
    return front;
}

Truth Model::has_budget(const Task& task) const {
    if (!is_server(task.policy)) {
        return Truth::yes;
    }
    const Server* const server = server_of(task);
    return server == nullptr || !server->budget ? Truth::unknown : truth_of(*server->budget != 0);
}

Truth Model::is_queued(const Task& task) const {
    if (task.ready != Truth::yes || !is_server(task.policy)) {
        return task.ready;
    }
    const Truth front = is_front_of_server(task);
    const Truth budget = has_budget(task);
    return front == Truth::no || budget == Truth::no ? Truth::no : front == Truth::yes ? budget : Truth::unknown;
}

// Levels are searched in the order of their numbers; a task of a guest level is in the queue of the host level.
std::optional<std::uint32_t> Model::rank(const Task& task) const {
    if (task.policy == Policy::unknown || m_names == nullptr) {
        return std::nullopt;
    }
    if (task.idle) {
        return 0x10000; // after all levels
    }
    if (task.policy != Policy::cbs && task.policy != Policy::grub && !is_server(task.policy)) {
        return task.parameters.level;
    }
    const Policy host = queues_with_edf(task.policy) ? Policy::edf : Policy::fixed;
    constexpr std::uint16_t kLevelsMax = 32;
    for (std::uint16_t level = 0; level < kLevelsMax; ++level) {
        if (policy_of_level(m_names->find(tracer::Unit::level, level)) == host) {
            return level;
        }
    }
    return task.parameters.level;
}

Truth Model::is_above(std::uint64_t level, std::uint32_t ceiling_us) {
    const std::uint64_t level_us = level / 1'000;
    return ceiling_us == kNoCeiling - 1 && level_us >= ceiling_us ? Truth::unknown : truth_of(level_us < ceiling_us);
}

Truth Model::has_requests(std::uint16_t server) const {
    const auto served = m_servers.find(server);
    Truth has = served != m_servers.end() && served->second.requests_known ? Truth::no : Truth::unknown;
    for (const auto& [context, task] : m_tasks.values()) {
        if (task.server == server && task.ready == Truth::yes) {
            return Truth::yes;
        }
        has = task.server == server && task.ready == Truth::unknown ? Truth::unknown : has;
    }
    return has;
}

std::optional<std::uint64_t> Model::preemption_level(const Task& task) const {
    if (const Server* const server = server_of(task)) {
        return server->period_ns != 0 ? std::optional(server->period_ns) : std::nullopt;
    }
    if (task.policy == Policy::round_robin || task.policy == Policy::background) {
        return kLowestLevel;
    }
    if (task.policy != Policy::edf && task.policy != Policy::fixed) {
        return std::nullopt;
    }
    const std::uint64_t declared = task.parameters.deadline_ns;
    if (!task.release || !task.deadline || !timed() || task.deadline_slack != 0) {
        return task.whole ? std::optional(declared) : std::nullopt; // it may have been changed in a hole
    }
    const std::uint64_t relative = *task.deadline - *task.release; // the task's deadline may have been changed
    const std::uint64_t expected = to_ticks(declared);
    return relative + 2 >= expected && relative <= expected + 2 ? declared : to_ns(relative + 1);
}

Truth Model::smaller_key(const Task& a, const Task& b) const {
    const auto rank_a = rank(a);
    const auto rank_b = rank(b);
    if (!rank_a || !rank_b) {
        return Truth::unknown;
    }
    if (*rank_a != *rank_b) {
        return truth_of(*rank_a < *rank_b);
    }
    if (queues_with_edf(a.policy)) {
        if (!a.deadline || !b.deadline) {
            return Truth::unknown;
        }
        if (*a.deadline + a.deadline_slack < *b.deadline || *b.deadline + b.deadline_slack < *a.deadline) {
            return truth_of(*a.deadline < *b.deadline);
        }
        return a.deadline_slack != 0 || b.deadline_slack != 0 ? Truth::unknown : truth_of(*a.deadline < *b.deadline);
    }
    if (a.policy == Policy::fixed || is_server(a.policy)) {
        const auto level_a = preemption_level(a);
        const auto level_b = preemption_level(b);
        return level_a && level_b ? truth_of(*level_a < *level_b) : Truth::unknown;
    }
    return Truth::no;
}

Truth Model::more_urgent(const Task& a, const Task& b) const {
    const auto rank_a = rank(a);
    const auto rank_b = rank(b);
    if (!rank_a || !rank_b) {
        return Truth::unknown;
    }
    if (*rank_a != *rank_b) {
        return truth_of(*rank_a < *rank_b);
    }
    if (queues_with_edf(a.policy) || a.policy == Policy::fixed || is_server(a.policy)) {
        return smaller_key(a, b);
    }
    // The one that was inserted first.
    return a.sequence == 0 || b.sequence == 0 ? Truth::unknown : truth_of(a.sequence < b.sequence);
}

Truth Model::before(const Task& a, const Task& b) const {
    const Truth higher = smaller_key(a, b);
    if (higher != Truth::no || smaller_key(b, a) != Truth::no) {
        return higher;
    }
    if ((is_server(a.policy) || is_server(b.policy)) && a.server != b.server) {
        return Truth::unknown; // no record states when a server came into the queue
    }
    if (!m_jobs_recorded && !queues_with_edf(a.policy)) {
        return Truth::unknown; // older kernels recorded neither insertions nor the ends of slices
    }
    return a.sequence == 0 || b.sequence == 0 ? Truth::unknown : truth_of(a.sequence < b.sequence);
}

const Mutex* Model::highest_ceiling(Protocol protocol, std::uint16_t task, bool& unknown) const {
    const Mutex* highest = nullptr;
    for (const auto& [id, mutex] : m_mutexes) {
        if (mutex.protocol && mutex.protocol != protocol) {
            continue;
        }
        unknown = unknown || !mutex.known;
        if (!mutex.known || mutex.owner == 0 || mutex.owner == task) {
            continue;
        }
        if (!mutex.ceiling_us || !mutex.protocol) {
            unknown = true;
        } else if (highest == nullptr || *mutex.ceiling_us < *highest->ceiling_us) {
            highest = &mutex;
        }
    }
    return highest;
}

Truth Model::owns_any(std::uint16_t context) const {
    Truth owns = Truth::no;
    for (const auto& [id, mutex] : m_mutexes) {
        if (mutex.known && mutex.owner == context) {
            return Truth::yes;
        }
        owns = mutex.known ? owns : Truth::unknown;
    }
    return owns;
}

Truth Model::stopped(const Task& task) const {
    if (!m_stack || !acquires_recorded() || task.begun == Truth::yes || task.idle) {
        return Truth::no; // the idle task does not lend its place
    }
    bool unknown = false;
    const Mutex* const held = highest_ceiling(Protocol::stack, task.context, unknown);
    if (unknown) {
        return Truth::unknown;
    }
    if (held == nullptr) {
        return Truth::no;
    }
    const auto level = preemption_level(task);
    if (*held->ceiling_us == kNoCeiling || !level) {
        return Truth::unknown; // the mutex has no declared users, or only users of the lowest level
    }
    if (const Truth above = is_above(*level, *held->ceiling_us); above != Truth::no) {
        return above == Truth::yes ? Truth::no : Truth::unknown;
    }
    const Truth owns = owns_any(task.context);
    return owns == Truth::yes                                       ? Truth::no
           : owns == Truth::unknown || task.begun == Truth::unknown ? Truth::unknown
                                                                    : Truth::yes;
}

std::optional<std::uint16_t> Model::next_in_chain(const Task& task) const {
    if (task.blocked_on) {
        const Mutex* const mutex = this->mutex(*task.blocked_on);
        if (mutex == nullptr || !mutex->known) {
            return std::nullopt;
        }
        if (mutex->owner != 0) {
            return mutex->owner == task.context ? std::uint16_t{0} : mutex->owner;
        }
    } else if (task.may_be_blocked) {
        return std::nullopt;
    }
    switch (stopped(task)) {
    case Truth::unknown:
        return std::nullopt;
    case Truth::no:
        return std::uint16_t{0};
    case Truth::yes:
        break;
    }
    bool unknown = false;
    const Mutex* const held = highest_ceiling(Protocol::stack, task.context, unknown);
    return held->owner;
}

std::optional<std::uint16_t> Model::chain_end(const Task& task) const {
    const Task* link = &task;
    for (std::size_t steps = 0; steps <= m_tasks.values().size(); ++steps) {
        const auto next = next_in_chain(*link);
        if (!next) {
            return std::nullopt;
        }
        if (*next == 0) {
            return link->context;
        }
        link = find(*next);
        if (link == nullptr) {
            return std::nullopt;
        }
    }
    return std::nullopt; // the chain is a cycle
}

bool Model::chain_passes(const Task& from, std::uint16_t context) const {
    const Task* link = &from;
    for (std::size_t steps = 0; link != nullptr && steps <= m_tasks.values().size(); ++steps) {
        const auto next = next_in_chain(*link);
        if (!next || *next == 0) {
            return false;
        }
        if (*next == context) {
            return true;
        }
        link = find(*next);
    }
    return false;
}

std::string Model::place_text(const Task& task) const {
    std::string text = name(task.context);
    if (queues_with_edf(task.policy) && task.deadline) {
        text += fmt::format(" with the deadline {} ticks", *task.deadline);
    } else if (const auto level = preemption_level(task);
               level && (task.policy == Policy::fixed || is_server(task.policy))) {
        text += fmt::format(" with the {} {} ns", is_server(task.policy) ? "period" : "relative deadline", *level);
    }
    return text;
}

} // namespace host::analyse::oracle
