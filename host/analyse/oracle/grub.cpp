// SPDX-License-Identifier: MIT
// See grub.hpp.
#include "host/analyse/oracle/grub.hpp"

#include "host/text/format.hpp"

#include <algorithm>

namespace host::analyse::oracle {

std::optional<std::uint64_t> Grub::zero_lag(const Server& server) const {
    if (!server.budget || !server.deadline || server.capacity_ns == 0) {
        return std::nullopt;
    }
    const std::uint64_t ahead = scaled_up(*server.budget, server.period_ns, server.capacity_ns);
    return *server.deadline > ahead ? *server.deadline - ahead : 0;
}

void Grub::active(std::uint16_t id) {
    m_accounts[id] = Account{.counted = true};
}

void Grub::job_ended(std::uint16_t id, const trace::Event& event) {
    m_accounts[id].idle = event.ticks.value;
}

void Grub::reclaiming(std::uint16_t id, const trace::Event& event) {
    Account& account = m_accounts[id];
    const auto due = zero_lag(model().servers().at(id));
    if (!due || !timing().judged) {
        verdicts().undecided(Rule::grub_zero_lag);
    } else {
        const std::uint64_t now = event.ticks.value;
        // A task that begins to wait after that time gives back at once, before its wait is recorded.
        const std::uint64_t latest = std::max(*due, account.idle.value_or(now)) + 2 * timing().tolerance;
        verdicts().judge(Rule::grub_zero_lag, now + timing().tolerance >= *due && now <= latest, std::nullopt, [&] {
            return fmt::format("server {} gives its bandwidth back at {} ticks, its zero-lag time is {}", id, now,
                               *due);
        });
    }
    account = Account{};
}

void Grub::settle(const trace::Event& event) {
    for (auto& [id, account] : m_accounts) {
        const auto server = model().servers().find(id);
        const auto due = server != model().servers().end() ? zero_lag(server->second) : std::nullopt;
        if (!account.counted || !account.idle || !due || !timing().judged) {
            continue;
        }
        const std::uint64_t latest = std::max(*due, *account.idle) + 2 * timing().tolerance;
        if (event.ticks.value > latest) {
            verdicts().fail(Rule::grub_zero_lag, std::nullopt,
                            fmt::format("server {} without work still has its bandwidth at {} ticks, its zero-lag "
                                        "time was {}",
                                        id, event.ticks.value, *due));
            account.idle.reset();
        }
    }
    judge_rate();
}

void Grub::judge_rate() {
    if (!m_meter.bandwidth()) {
        return;
    }
    if (!model().complete()) {
        verdicts().undecided(Rule::grub_rate);
        return;
    }
    std::uint64_t sum = 0;
    std::uint64_t parts = 0;
    const auto add = [&](std::uint64_t part, std::uint64_t whole) {
        sum += scaled_up(part, kWholeProcessor, whole);
        ++parts;
    };
    for (const auto& [context, task] : model().tasks()) {
        if (task.server || (task.policy != Policy::edf && task.policy != Policy::fixed)) {
            continue;
        }
        if (task.parameters.period_ns == 0) {
            verdicts().undecided(Rule::grub_rate); // a single job: what it reserves is not recorded
            return;
        }
        add(task.parameters.wcet_ns, task.parameters.period_ns);
    }
    for (const auto& [id, server] : model().servers()) {
        const auto account = m_accounts.find(id);
        const bool counted = server.kind != Policy::grub || (account != m_accounts.end() && account->second.counted);
        if (server.period_ns != 0 && counted) {
            add(server.capacity_ns, server.period_ns);
        }
    }
    const std::uint64_t expected = std::min(sum, kWholeProcessor);
    const std::uint64_t recorded = *m_meter.bandwidth();
    if (recorded > expected + parts && m_retired) {
        verdicts().undecided(Rule::grub_rate); // a reservation may last until the deadline of the job that ended
        return;
    }
    verdicts().judge(Rule::grub_rate, recorded <= expected + parts && recorded + parts >= expected, std::nullopt, [&] {
        return fmt::format("the active bandwidth is recorded as {} of {}, the reservations and active servers add up "
                           "to {}",
                           recorded, kWholeProcessor, expected);
    });
}

} // namespace host::analyse::oracle
