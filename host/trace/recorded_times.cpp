// SPDX-License-Identifier: MIT
#include "host/trace/recorded_times.hpp"

#include "host/trace/names.hpp"
#include "host/trace/tick_scale.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>

namespace host::trace {

namespace {

constexpr std::uint32_t kSaturated = 0xFFFF'FFFF; // a length of time that is too long for its record
constexpr std::uint64_t kNsPerUs = 1'000;
constexpr std::uint64_t kTurnTicks = std::uint64_t{1} << 32; // after so many ticks, low halves repeat
constexpr std::uint64_t kHalfTurn = kTurnTicks / 2;

bool is_dynamic(lib::ServerKind kind) {
    return kind == lib::ServerKind::cbs || kind == lib::ServerKind::grub;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

} // namespace

void RecordedTimes::forget() {
    m_tasks.clear();
    m_ended.clear();
    m_forgot = true;
    m_in_gap = true;
    ++m_forgotten; // the servers forget when they are needed: there may be many, and many losses
}

RecordedTimes::Server& RecordedTimes::server(std::uint16_t id) {
    Server& known = m_servers[id];
    if (known.known_since != m_forgotten) {
        known = {.kind = known.kind, .period_ns = known.period_ns, .known_since = m_forgotten};
    }
    return known;
}

RecordedTimes::Task& RecordedTimes::task(const Event& event, std::uint16_t context) {
    Task* known = m_tasks.find(context);
    if (known == nullptr) {
        known = &m_tasks[context];
        known->whole = known->waiting_known = !m_forgot;
    }
    if (event.names != nullptr && known->described_by != event.names->version()) {
        known->described_by = event.names->version();
        const TaskNames* const names = event.names->task(context);
        known->parameters = names != nullptr ? names->parameters.value_or(known->parameters) : known->parameters;
    }
    return *known;
}

RecordedTimes::Server* RecordedTimes::server_of(const Task& task) {
    return task.server && m_servers.find(*task.server) != nullptr ? &server(*task.server) : nullptr;
}

void RecordedTimes::follow(const Event& event, std::uint32_t khz) {
    m_rate.khz = khz;
    const auto family = static_cast<tracer::Family>(event.code & 0x0F);
    if (family == tracer::Family::general || kSetsFilter[event.code]) {
        forget();
        // If the tracer was enabled before the first task existed, no record of a task is missing.
        m_forgot = event.code != kCodeOf<"trace_start"> || event.par1 != 0;
        m_in_gap = m_forgot;
        return;
    }
    if (family == tracer::Family::server) {
        follow_server(event);
        return;
    }
    if (event.code == kCodeOf<"task_schedule">) {
        settle();
    } else {
        follow_task(event);
    }
}

void RecordedTimes::follow_task(const Event& event) {
    Task& of = task(event, event.par1);
    switch (event.code) {
    case kCodeOf<"task_create">:
    case kCodeOf<"task_end">:
        m_tasks[event.par1] = {.whole = true, .waiting_known = true};
        break;
    case kCodeOf<"task_activate">:
        of.activation = event.ticks.value;
        of.regular = false;
        arrive(of);
        break;
    case kCodeOf<"task_timer">:
        of.activation.reset();
        arrive(of);
        wait(of, event.ticks.value);
        break;
    case kCodeOf<"job_queued">:
        if (const auto activation = std::exchange(of.activation, std::nullopt)) {
            wait(of, *activation);
        }
        break;
    case kCodeOf<"job_skipped">:
        if (!std::exchange(of.activation, std::nullopt) && !of.waiting.empty()) {
            of.waiting.pop_back();
        }
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"job_abort">:
        of.arrived = false;
        of.ended = true;
        m_ended.push_back(event.par1);
        break;
    case kCodeOf<"task_disable">:
        of.waiting.clear();
        of.waiting_known = true;
        break;
    case kCodeOf<"job_release">:
        released(of, event);
        break;
    case kCodeOf<"job_deadline">:
        due(of, event.par2);
        break;
    case kCodeOf<"set_priority">:
        priority(of, event);
        break;
    case kCodeOf<"deadline_change">:
        of.changed_us = {event.par2, of.changed_us[0]};
        break;
    default:
        break;
    }
}

// An arrival after the end of a job is that of the next job, so none waited.
void RecordedTimes::arrive(Task& task) {
    task.arrived = true;
    task.ended = false;
}

// Keeps the stamp of an arrival until its job is released. A task that never completes a job would need any amount of
// memory, so from a number on its arrivals are not known.
void RecordedTimes::wait(Task& task, std::uint64_t stamp) {
    constexpr std::size_t kWaitingMax = std::size_t{1} << 20;
    if (task.waiting.size() == kWaitingMax) {
        task.waiting.clear();
        task.waiting_known = false;
    }
    task.waiting.push_back(stamp);
}

// At the end of a job the kernel releases the next one that waits before it decides, so a task without one rests.
void RecordedTimes::settle() {
    for (const std::uint16_t context : m_ended) {
        if (Task* const task = m_tasks.find(context); task != nullptr && task->ended) {
            task->ended = false;
            task->waiting.clear();
            task->waiting_known = true;
        }
    }
    m_ended.clear();
    m_in_gap = false;
}

void RecordedTimes::released(Task& task, const Event& event) {
    task.release = release_of(task, event);
    task.deadline.reset();
    task.about.reset();
    task.low.reset();
    task.activation.reset();
    task.arrived = false;
    task.ended = false;
    task.regular = true;
}

std::optional<std::uint64_t> RecordedTimes::release_of(Task& task, const Event& event) const {
    const bool may_have_waited = task.ended || (m_in_gap && !task.arrived);
    const bool at_once = !may_have_waited || (task.waiting_known && task.waiting.empty());
    std::optional<std::uint64_t> arrival;
    if (at_once) {
        task.waiting.clear();
        task.waiting_known = true;
    } else if (task.waiting_known) {
        arrival = task.waiting.front();
        task.waiting.pop_front();
    }
    if (task.regular && task.release && task.parameters.deadline_ns != 0 && task.parameters.period_ns != 0 && timed()) {
        return nearest_time(event.par2, sum(*task.release, to_ticks(task.parameters.period_ns)));
    }
    if (at_once) {
        return release_time(event.par2, event.ticks.value);
    }
    return arrival ? std::optional(nearest_time(event.par2, *arrival)) : std::nullopt;
}

void RecordedTimes::due(Task& task, std::uint32_t low) {
    task.about.reset();
    task.low.reset();
    const Server* const server = server_of(task);
    if (task.is_soft() || (server != nullptr && server->kind && is_dynamic(*server->kind))) {
        const bool known = server != nullptr && server->deadline;
        task.deadline = known ? std::optional(nearest_time(low, *server->deadline)) : std::nullopt;
        task.low = known ? std::nullopt : std::optional(low);
        return;
    }
    if (!task.release) {
        task.deadline.reset();
        return;
    }
    if (task.parameters.deadline_ns == 0) {
        task.deadline = first_time(low, *task.release);
        task.low = low;
        return;
    }
    task.deadline = hard_deadline(task, low);
}

// A change of D that a gap hides may be of any length, and one that saturates, too: then only the declared D, or a
// change that is known, decides.
std::optional<std::uint64_t> RecordedTimes::hard_deadline(const Task& task, std::uint32_t low) const {
    if (!timed()) {
        return std::nullopt;
    }
    bool all_known = task.whole;
    std::optional<std::uint64_t> best;
    std::int64_t least = 0;
    const auto consider = [&](std::uint64_t relative_ns) {
        const std::uint64_t expected = sum(*task.release, to_ticks(relative_ns));
        const std::int64_t distance = distance_to_nearest(low, expected);
        if (!best || std::abs(distance) < least) {
            best = nearest_time(low, expected);
            least = std::abs(distance);
        }
    };
    consider(task.parameters.deadline_ns);
    for (const auto& changed_us : task.changed_us) {
        if (changed_us && *changed_us != kSaturated) {
            consider(*changed_us * kNsPerUs);
        }
        all_known = all_known && changed_us != kSaturated;
    }
    const std::uint64_t rounding = to_ticks(kNsPerUs) + 2; // changes are recorded in whole microseconds
    return all_known || static_cast<std::uint64_t>(least) <= rounding ? best : std::nullopt;
}

// The kernel records the same deadline in microseconds, whose low half repeats after 71 minutes. They decide where
// nothing better is known: for a server's deadline, which is as close to the present as its period is short, and for a
// task without parameters, whose deadline follows its release.
void RecordedTimes::priority(Task& task, const Event& event) {
    if (!timed()) {
        return;
    }
    const auto us_at = [this](std::uint64_t ticks) { return m_rate.to_nanoseconds({ticks}).value / kNsPerUs; };
    const bool soft = task.is_soft();
    if (!task.low) {
        const std::uint64_t ahead = soft ? 0 : task.parameters.deadline_ns / kNsPerUs;
        task.about = to_ticks(nearest_time(event.par2, us_at(event.ticks.value) + ahead) * kNsPerUs);
        return;
    }
    Server* const server = server_of(task);
    const std::uint32_t low = *std::exchange(task.low, std::nullopt);
    if (!soft && task.release && server == nullptr) {
        task.deadline = nearest_time(low, to_ticks(first_time(event.par2, us_at(*task.release)) * kNsPerUs));
        return;
    }
    if (!soft || task.parameters.period_ns / kNsPerUs >= kHalfTurn) {
        return;
    }
    task.deadline = nearest_time(low, to_ticks(nearest_time(event.par2, us_at(event.ticks.value)) * kNsPerUs));
    if (server != nullptr) {
        server->deadline = task.deadline;
    }
}

void RecordedTimes::follow_server(const Event& event) {
    const auto in_par2 = static_cast<std::uint16_t>(event.par2);
    switch (event.code) {
    case kCodeOf<"server_create">:
        m_servers[in_par2] = {.whole = true, .known_since = m_forgotten};
        break;
    case kCodeOf<"server_remove">:
        m_servers.erase(in_par2);
        break;
    case kCodeOf<"server_kind">:
        server(in_par2).kind = lib::number_from<lib::ServerKind>(event.par1);
        break;
    case kCodeOf<"server_period">:
        server(event.par1).period_ns = event.par2;
        break;
    case kCodeOf<"server_attach">:
        task(event, in_par2).server = event.par1;
        server(event.par1).task = in_par2;
        break;
    case kCodeOf<"server_active">:
        task(event, event.par1).server = in_par2;
        server(in_par2).task = event.par1;
        server(in_par2).active = true;
        break;
    case kCodeOf<"server_replenish">:
        server(in_par2).replenished = true;
        break;
    case kCodeOf<"server_exhaust">:
        server(in_par2).exhausted = true;
        break;
    case kCodeOf<"server_deadline">: {
        Server& of = server(event.par1);
        const auto period = period_of(event.par1);
        of.deadline = !of.kind               ? std::nullopt
                      : is_dynamic(*of.kind) ? dynamic_deadline(of, event, period)
                                             : fixed_deadline(of, event, period);
        of.active = false;
        of.replenished = false;
        of.exhausted = false;
        break;
    }
    default:
        break;
    }
}

std::optional<std::uint64_t> RecordedTimes::server_period_ns(std::uint16_t server) const {
    const Server* const known = m_servers.find(server);
    if (known == nullptr) {
        return std::nullopt;
    }
    const bool has_task = known->known_since == m_forgotten && known->task;
    const Task* const task = has_task && known->kind && is_dynamic(*known->kind) ? m_tasks.find(*known->task) : nullptr;
    if (task != nullptr && task->is_soft()) {
        return task->parameters.period_ns;
    }
    return known->period_ns != kSaturated ? std::optional<std::uint64_t>(known->period_ns) : std::nullopt;
}

std::optional<std::uint64_t> RecordedTimes::period_of(std::uint16_t server) const {
    const auto ns = timed() ? server_period_ns(server) : std::nullopt;
    return ns && *ns != 0 ? std::optional(to_ticks(*ns)) : std::nullopt;
}

// A server that is exhausted gets a deadline one period after the former; one that gets work either keeps its deadline
// or gets one a period from now on, together with a budget.
std::optional<std::uint64_t> RecordedTimes::dynamic_deadline(const Server& server, const Event& event,
                                                             std::optional<std::uint64_t> period) {
    const bool is_kept = server.deadline && static_cast<std::uint32_t>(*server.deadline) == event.par2;
    if (is_kept && !server.exhausted && !server.replenished) {
        return server.deadline;
    }
    const bool may_be_kept = !server.deadline && !server.whole && !server.replenished;
    if (!period || (server.active && may_be_kept)) {
        return std::nullopt;
    }
    const auto from = server.active ? std::optional(event.ticks.value) : server.deadline;
    const std::uint64_t by = server.active || server.exhausted ? *period : 0;
    return from ? std::optional(nearest_time(event.par2, sum(*from, by))) : std::nullopt;
}

// The next replenishment is in the future, and at most one period ahead; those for which the machine was too late are
// passed over.
std::optional<std::uint64_t> RecordedTimes::fixed_deadline(const Server& server, const Event& event,
                                                           std::optional<std::uint64_t> period) {
    const std::uint64_t now = event.ticks.value;
    if (!server.replenished) {
        const bool near = period && *period < kHalfTurn;
        return server.deadline ? std::optional(nearest_time(event.par2, *server.deadline))
               : near          ? std::optional(nearest_time(event.par2, now))
                               : std::nullopt;
    }
    if (!period) {
        return std::nullopt;
    }
    const std::uint64_t last = server.deadline.value_or(now);
    const std::uint64_t periods = now > last ? (now - last) / *period + 1 : 1;
    return nearest_time(event.par2, sum(last, periods * *period));
}

std::optional<std::uint64_t> RecordedTimes::release(std::uint16_t context) const {
    const Task* const task = m_tasks.find(context);
    return task != nullptr ? task->release : std::nullopt;
}

std::optional<std::uint16_t> RecordedTimes::server(std::uint16_t context) const {
    const Task* const task = m_tasks.find(context);
    return task != nullptr ? task->server : std::nullopt;
}

bool RecordedTimes::is_served(std::uint16_t context) const {
    const Task* const task = m_tasks.find(context);
    return task != nullptr && (task->server || task->is_soft());
}

std::optional<std::uint64_t> RecordedTimes::deadline(std::uint16_t context) const {
    const Task* const task = m_tasks.find(context);
    return task != nullptr ? task->deadline : std::nullopt;
}

std::optional<std::uint64_t> RecordedTimes::deadline_about(std::uint16_t context) const {
    const Task* const task = m_tasks.find(context);
    return task == nullptr ? std::nullopt : task->deadline ? task->deadline : task->about;
}

std::optional<std::uint64_t> RecordedTimes::server_deadline(std::uint16_t server) const {
    const Server* const known = m_servers.find(server);
    return known != nullptr && known->known_since == m_forgotten ? known->deadline : std::nullopt;
}

} // namespace host::trace
