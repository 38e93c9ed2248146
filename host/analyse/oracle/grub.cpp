// SPDX-License-Identifier: MIT
// See grub.hpp.
#include "host/analyse/oracle/grub.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <limits>
#include <vector>

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
    if (const auto account = m_accounts.find(id); account != m_accounts.end()) {
        account->second.idle = event.ticks.value;
    }
}

// A kept activation: the server has had no instant without work.
void Grub::job_begins(std::uint16_t id) {
    if (const auto account = m_accounts.find(id); account != m_accounts.end()) {
        account->second.idle.reset();
    }
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
    count_retired();
    judge_rate();
}

// A task that ended is counted until no task with a reservation has work.
void Grub::count_retired() {
    for (const auto& [context, task] : model().tasks()) {
        const bool reserved = task.server || task.policy == Policy::edf || task.policy == Policy::fixed;
        if ((reserved || task.policy == Policy::unknown) && (task.ready != Truth::no || task.suspended)) {
            return;
        }
    }
    m_retired = false;
}

// A share for each reservation, such that nothing is late as long as the sum is at most one: C / min(D, T) of those
// with deadlines; of those with fixed priorities, which run above them, C / T and once more C / Dmin, where Dmin is the
// shortest of these D and T; twice more of a server that keeps its budget. None: not known.
std::optional<Grub::Load> Grub::load() const {
    std::vector<Share> above;
    Load load;
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    const auto add_deadline = [&](std::uint64_t part, std::uint64_t whole, bool counted) {
        shortest = std::min(shortest, whole);
        load.add(part, whole, counted);
    };
    for (const auto& [context, task] : model().tasks()) {
        const tracer::TaskParameters& parameters = task.parameters;
        if (task.server || (task.policy != Policy::edf && task.policy != Policy::fixed)) {
            continue;
        }
        if (m_changed.contains(context) || parameters.deadline_ns == 0) {
            return std::nullopt; // which deadline counts depends on when the next job is released
        }
        if (task.policy == Policy::edf) {
            add_deadline(parameters.wcet_ns, parameters.deadline_ns, true);
        } else if (parameters.period_ns != 0) {
            above.push_back({parameters.wcet_ns, parameters.period_ns, 1});
        }
    }
    for (const auto& [id, server] : model().servers()) {
        const auto account = m_accounts.find(id);
        const bool unknown = server.kind == Policy::grub && account == m_accounts.end() && m_forgot;
        if (server.period_ns == 0 || server.kind == Policy::unknown || unknown) {
            return std::nullopt;
        }
        if (server.kind == Policy::polling || server.kind == Policy::deferrable) {
            const bool kept = server.kind == Policy::deferrable && server.capacity_ns < server.period_ns;
            above.push_back({server.capacity_ns, server.period_ns, kept ? 2U : 1U});
        } else {
            const bool active = account != m_accounts.end() && account->second.counted;
            add_deadline(server.capacity_ns, server.period_ns, server.kind != Policy::grub || active);
        }
    }
    for (const Share& share : above) {
        load.add(share.part, share.whole, true);
        for (unsigned i = 0; i < share.more; ++i) {
            load.add(share.part, shortest, true);
        }
    }
    return load;
}

void Grub::judge_rate() {
    const bool reclaims =
        std::ranges::any_of(model().servers(), [](const auto& entry) { return entry.second.kind == Policy::grub; });
    if (!m_meter.bandwidth() || !reclaims) {
        return; // without a server that reclaims, changes are not recorded
    }
    const auto load = model().complete() ? this->load() : std::nullopt;
    if (!load) {
        verdicts().undecided(Rule::grub_rate);
        return;
    }
    // Beyond the whole processor nothing can be given back.
    const std::uint64_t expected = load->all > kWholeProcessor ? kWholeProcessor : load->active;
    const std::uint64_t recorded = *m_meter.bandwidth();
    if (m_retired && recorded > expected + load->parts) {
        verdicts().undecided(Rule::grub_rate); // a reservation may last until the deadline of the job that ended
        return;
    }
    const bool holds = recorded <= expected + load->parts && recorded + load->parts >= expected;
    verdicts().judge(Rule::grub_rate, holds, std::nullopt, [&] {
        return fmt::format("the active bandwidth is recorded as {} of {}, the reservations and active servers add up "
                           "to {}",
                           recorded, kWholeProcessor, expected);
    });
}

} // namespace host::analyse::oracle
