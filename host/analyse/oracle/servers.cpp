// SPDX-License-Identifier: MIT
// The meter of the servers' use, and the theory of polling and deferrable servers.
#include "host/analyse/oracle/servers.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse::oracle {

std::uint64_t scaled_up(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
    __extension__ using Product = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Product>(value) * numerator + denominator - 1) / denominator);
}

void ServerMeter::flush(std::uint64_t now) {
    const auto& running = model().running();
    const Task* const exec = running ? model().find(running->exec) : nullptr;
    if (running && (exec == nullptr || (!exec->server && !model().has_no_server(*exec)))) {
        m_uses.clear(); // it may use any server
    } else if (exec != nullptr && exec->server) {
        const std::uint64_t begin = std::max(running->since, m_counted_to);
        if (now > begin) {
            Use& use = m_uses[*exec->server];
            use.ran += now - begin;
            use.charged += scaled_up(now - begin, m_bandwidth.value_or(kWholeProcessor), kWholeProcessor);
            ++use.intervals;
        }
    }
    m_counted_to = now;
}

void ServerMeter::restart(std::uint16_t server) {
    m_uses[server] = Use{.known = model().processor_known()};
}

void ServerMeter::forget() {
    m_uses.clear();
    m_bandwidth.reset();
}

void FixedServers::replenish(std::uint16_t id, const trace::Event& event) {
    const Server& server = model().servers().at(id);
    Account& account = account_of(id);
    account.refilled = true;
    account.advances = true;
    if (!server.deadline || !timing().judged) {
        verdicts().undecided(Rule::server_replenish);
        return;
    }
    const std::uint64_t now = event.ticks.value;
    verdicts().judge(Rule::server_replenish, now + 1 >= *server.deadline, std::nullopt, [&] {
        return fmt::format("server {} is replenished at {} ticks, its period ends at {}", id, now, *server.deadline);
    });
}

void FixedServers::exhaust(std::uint16_t id) {
    const Server& server = model().servers().at(id);
    const Use& use = m_meter.use(id);
    if (!server.budget || !use.known || !timing().judged) {
        verdicts().undecided(Rule::server_budget);
        return;
    }
    const std::uint64_t slack = timing().tolerance * (use.intervals + 1);
    verdicts().judge(Rule::server_budget, use.ran + slack >= *server.budget, std::nullopt, [&] {
        return fmt::format("server {} is recorded as exhausted after {} ticks, its budget was {}", id, use.ran,
                           *server.budget);
    });
}

void FixedServers::budget(std::uint16_t id, std::optional<std::uint64_t> stated) {
    const Server& server = model().servers().at(id);
    Account& account = account_of(id);
    const Use use = m_meter.use(id);
    m_meter.restart(id);
    const bool may_be_idle = model().has_requests(id) != Truth::yes;
    const bool refilled = std::exchange(account.refilled, false);
    const bool debt_known = account.debt_known;
    account.debt_known = stated && (refilled || debt_known);
    if (!stated || (refilled && (server.capacity_ns == 0 || !model().timed()))) {
        verdicts().undecided(refilled ? Rule::server_replenish : Rule::server_budget);
        account.debt = 0;
        return;
    }
    const std::uint64_t recorded = *stated;
    if (refilled) {
        const std::uint64_t capacity = model().to_ticks(server.capacity_ns);
        const bool lost = server.kind == Policy::polling && recorded == 0 && may_be_idle;
        const std::uint64_t owed = account.debt != 0 ? account.debt + timing().tolerance : 1;
        const bool full = recorded <= capacity + 1 && (!debt_known || recorded + owed >= capacity);
        account.debt = 0;
        verdicts().judge(Rule::server_replenish, lost || full, std::nullopt, [&] {
            return fmt::format("server {} is replenished to {} ticks, Q is {}", id, recorded, capacity);
        });
        return;
    }
    if (server.kind == Policy::polling && recorded == 0 && may_be_idle) {
        verdicts().pass(Rule::server_replenish); // without requests a polling server loses its budget
        return;
    }
    if (server.kind == Policy::polling && recorded == 0 && use.known && use.ran == 0 && server.budget &&
        *server.budget != 0) {
        for (const auto& [context, task] : model().tasks()) { // they begin to wait, which the next records state
            if (task.server == id && task.ready == Truth::yes) {
                account.leaving.emplace_back(context, task.sequence);
            }
        }
        return;
    }
    if (!server.budget || !use.known || !timing().judged) {
        account.debt_known = false;
        verdicts().undecided(Rule::server_budget);
        return;
    }
    const std::uint64_t slack = timing().tolerance * (use.intervals + 1);
    const std::uint64_t expected = *server.budget > use.ran ? *server.budget - use.ran : 0;
    account.debt += recorded == 0 && use.ran + slack > *server.budget ? use.ran + slack - *server.budget : 0;
    const bool in_time = use.ran <= *server.budget + slack;
    verdicts().judge(Rule::server_budget, in_time && recorded <= expected + slack && recorded + slack >= expected,
                     std::nullopt, [&] {
                         return fmt::format("server {} has {} ticks left, but of {} {} ran in its place", id, recorded,
                                            *server.budget, use.ran);
                     });
}

// The low 32 bits of the deadline are recorded exactly, so replenishments must never drift.
void FixedServers::deadline(std::uint16_t id, const trace::Event& event) {
    const Server& server = model().servers().at(id);
    Account& account = account_of(id);
    const auto stated = model().times().server_deadline(id);
    if (!account.origin || !stated || server.period_ns == 0 || !model().timed()) {
        judge_first(id, server, stated, event);
        account.origin = stated;
        account.number = 0;
        account.advances = false;
        return;
    }
    const std::uint64_t recorded = *stated;
    // The kernel skips periods for which the machine was too late.
    const std::uint64_t period = model().to_ticks(server.period_ns);
    const std::uint64_t least = account.number + (account.advances ? 1 : 0);
    const std::uint64_t since = recorded > *account.origin ? recorded - *account.origin : 0;
    account.number = std::max(least, period != 0 ? (since + period / 2) / period : 0);
    account.advances = false;
    const std::uint64_t expected = *account.origin + model().to_ticks(account.number * server.period_ns);
    const bool holds = same_but_rounding(recorded, expected);
    verdicts().judge(Rule::server_replenish, holds, std::nullopt, [&] {
        return fmt::format("server {} is recorded as replenished at {} ticks next, origin + {} T is {}", id, recorded,
                           account.number, expected);
    });
    if (!holds) {
        account.origin = recorded;
        account.number = 0;
    }
}

// From the first deadline that is known the others follow. It is at most one period away.
void FixedServers::judge_first(std::uint16_t id, const Server& server, std::optional<std::uint64_t> stated,
                               const trace::Event& event) {
    if (stated && server.period_ns != 0 && model().timed() && timing().judged &&
        *stated > event.ticks.value + model().to_ticks(server.period_ns) + timing().tolerance) {
        verdicts().fail(Rule::server_replenish, std::nullopt,
                        fmt::format("server {} is recorded at {} ticks as replenished at {} next, more than T later",
                                    id, event.ticks.value, *stated));
    }
}

void FixedServers::settle() {
    for (const std::uint16_t id : model().known_servers()) {
        const auto found = model().servers().find(id);
        if (found != model().servers().end() && found->second.kind == Policy::polling && found->second.budget) {
            settle(id, *found->second.budget);
        }
    }
}

void FixedServers::settle(std::uint16_t id, std::uint64_t budget) {
    for (const auto& [context, sequence] : std::exchange(account_of(id).leaving, {})) {
        const Task* const request = model().find(context);
        const bool left = request == nullptr || request->ready != Truth::yes || request->sequence != sequence;
        verdicts().judge(Rule::server_budget, left, context, [this, id, context = context] {
            return fmt::format("polling server {} loses its budget, but has the request {}", id, model().name(context));
        });
    }
    if (budget != 0 && model().has_requests(id) == Truth::no) {
        verdicts().fail(Rule::server_replenish, std::nullopt,
                        fmt::format("polling server {} keeps {} ticks of budget without a request", id, budget));
    }
}

} // namespace host::analyse::oracle
