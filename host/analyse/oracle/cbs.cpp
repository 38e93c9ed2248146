// SPDX-License-Identifier: MIT
// Judges the constant bandwidth server and greedy reclamation. Budgets and deadlines are recorded exactly; what ran,
// and when work arrived, is measured by stamps.
#include "host/analyse/oracle/servers.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace host::analyse::oracle {

namespace {

__extension__ using Wide = unsigned __int128;

// Work that arrives at t makes a new deadline if c T >= (d - t) Q, or if d has passed. The answer is unknown if the two
// sides differ by no more than the rounding of c, Q and T to ticks.
Truth renews(const Server& server, std::uint64_t budget, std::uint64_t deadline, std::uint64_t time) {
    if (deadline <= time) {
        return Truth::yes;
    }
    if (server.capacity_ns == 0 || server.period_ns == 0) {
        return Truth::unknown;
    }
    const Wide left = Wide{budget} * server.period_ns;
    const Wide right = Wide{deadline - time} * server.capacity_ns;
    const Wide rounding = Wide{2} * (Wide{server.period_ns} + server.capacity_ns);
    if (left + rounding >= right && right + rounding >= left) {
        return Truth::unknown;
    }
    return left >= right ? Truth::yes : Truth::no;
}

} // namespace

std::string Cbs::server_text(std::uint16_t id) const {
    for (const auto& [context, task] : model().tasks()) {
        if (task.server == id) {
            return fmt::format("server {} of {}", id, model().name(context));
        }
    }
    return fmt::format("server {}", id);
}

void Cbs::active(std::uint16_t id, const trace::Event& event) {
    const Server& server = model().servers().at(id);
    Account& account = m_accounts[id];
    account.step = Step::arrival;
    account.arrived = event.ticks.value;
    account.old_budget = server.budget;
    account.new_budget.reset();
}

// Must be called before the deadline is postponed: everything that ran since the deadline was renewed is due by the
// present one.
void Cbs::judge_isolation(std::uint16_t id, const Server& server, const Account& account) {
    if (server.kind != Policy::cbs) {
        return; // a server that reclaims may use more than its share
    }
    const bool known = server.capacity_ns != 0 && server.period_ns != 0;
    if (!account.since || !server.deadline || !known || !timing().judged) {
        verdicts().undecided(Rule::cbs_isolation);
        return;
    }
    const std::uint64_t slack = timing().tolerance * (account.intervals + 1);
    const std::uint64_t span = *server.deadline > *account.since ? *server.deadline - *account.since : 0;
    const std::uint64_t allowed = scaled_up(span, server.capacity_ns, server.period_ns);
    verdicts().judge(Rule::cbs_isolation, account.used <= allowed + slack, std::nullopt, [&] {
        return fmt::format("{} used {} of the {} ticks up to its deadline {}, it may use {}", server_text(id),
                           account.used, span, *server.deadline, allowed);
    });
}

void Cbs::exhaust(std::uint16_t id) {
    const Server& server = model().servers().at(id);
    Account& account = m_accounts[id];
    const Use& use = m_meter.use(id);
    if (!server.budget || !use.known || !timing().judged) {
        verdicts().undecided(Rule::cbs_exhaust);
    } else {
        // Only GRUB charges by the active bandwidth; a CBS beside it is charged in full.
        const std::uint64_t charged = server.kind == Policy::grub ? use.charged : use.ran;
        const std::uint64_t slack = timing().tolerance * (use.intervals + 1);
        verdicts().judge(Rule::cbs_exhaust, charged + slack >= *server.budget, std::nullopt, [&] {
            return fmt::format("{} is recorded as exhausted after a charge of {} ticks, its budget was {}",
                               server_text(id), charged, *server.budget);
        });
    }
    account.step = Step::exhaustion;
    account.old_budget = server.budget;
    account.new_budget.reset();
}

void Cbs::budget(std::uint16_t id, std::optional<std::uint64_t> recorded) {
    const Server& server = model().servers().at(id);
    Account& account = m_accounts[id];
    const Use& use = m_meter.use(id);
    account.used += use.ran;
    account.intervals += use.intervals;
    if (account.step == Step::none) {
        judge_charge(id, server, account, recorded);
    } else {
        account.new_budget = recorded;
    }
    judge_isolation(id, server, account);
    m_meter.restart(id);
}

void Cbs::judge_charge(std::uint16_t id, const Server& server, Account& account,
                       std::optional<std::uint64_t> recorded) {
    account.debt = model().timed() ? model().to_ticks(server.capacity_ns) : 0; // the most, if it cannot be measured
    const Rule rule = server.kind == Policy::grub ? Rule::grub_budget : Rule::cbs_budget;
    const Use& use = m_meter.use(id);
    if (!recorded || !server.budget || !use.known || !timing().judged ||
        (server.kind == Policy::grub && !m_meter.bandwidth())) {
        verdicts().undecided(rule);
        return;
    }
    // Only GRUB charges by the active bandwidth; a CBS beside it is charged in full.
    const std::uint64_t charged = server.kind == Policy::grub ? use.charged : use.ran;
    const std::uint64_t slack = timing().tolerance * (use.intervals + 1);
    const std::uint64_t expected = *server.budget > charged ? *server.budget - charged : 0;
    account.debt = charged > *server.budget ? charged - *server.budget : 0;
    account.slack = slack;
    if (*account.debt > slack) {
        verdicts().fail(Rule::cbs_exhaust, std::nullopt,
                        fmt::format("{} is charged {} ticks, its budget was {}: it had to be exhausted sooner",
                                    server_text(id), charged, *server.budget));
        return;
    }
    verdicts().judge(rule, *recorded <= expected + slack && *recorded + slack >= expected, std::nullopt, [&] {
        return fmt::format("{} has {} ticks left, but of {} it was charged {} for the {} that ran in its place",
                           server_text(id), *recorded, *server.budget, charged, use.ran);
    });
}

void Cbs::deadline(std::uint16_t id) {
    const Server& server = model().servers().at(id);
    Account& account = m_accounts[id];
    const auto recorded = model().times().server_deadline(id);
    if (!model().timed() || server.period_ns == 0 || server.capacity_ns == 0 || !recorded) {
        verdicts().undecided(account.step == Step::exhaustion ? Rule::cbs_exhaust : Rule::cbs_arrival);
        account.since.reset();
    } else if (account.step == Step::arrival) {
        judge_arrival(id, server, account, *recorded);
    } else if (account.step == Step::exhaustion) {
        judge_exhaustion(id, server, account, *recorded);
    } else if (server.deadline && *recorded != *server.deadline) {
        verdicts().fail(Rule::cbs_exhaust, std::nullopt,
                        fmt::format("the deadline of {} goes from {} to {} ticks without an arrival or an exhaustion",
                                    server_text(id), *server.deadline, *recorded));
    }
    account.step = Step::none;
}

// If d is the new deadline, the kernel saw the work arrive at d - T, shortly before the record.
void Cbs::judge_arrival(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded) {
    if (!server.deadline && !server.whole) {
        verdicts().undecided(Rule::cbs_arrival); // it may be kept
        return;
    }
    const std::uint64_t period = model().to_ticks(server.period_ns);
    const std::uint64_t capacity = model().to_ticks(server.capacity_ns);
    const bool kept = server.deadline && recorded == *server.deadline;
    if (!kept) {
        const std::uint64_t time = recorded - period;
        account.since = time;
        account.used = 0;
        account.intervals = 0;
        const bool in_time = !timing().judged || (time <= account.arrived + 1 + timing().granule &&
                                                  time + timing().tolerance >= account.arrived);
        const bool full = !account.new_budget || same_but_rounding(*account.new_budget, capacity);
        if (!in_time || !full) {
            verdicts().fail(Rule::cbs_arrival, std::nullopt,
                            fmt::format("work for {} arrives at about {} ticks and gives it the deadline {} and the "
                                        "budget {}; t + T is {}, Q is {}",
                                        server_text(id), account.arrived, recorded, account.new_budget.value_or(0),
                                        account.arrived + period, capacity));
            return;
        }
        if (!account.old_budget || !server.deadline) {
            verdicts().pass(Rule::cbs_arrival); // it is the server's first work
            return;
        }
        verdicts().judge(Rule::cbs_arrival, renews(server, *account.old_budget, *server.deadline, time) != Truth::no,
                         std::nullopt, [&] {
                             return fmt::format("work arrives at {} ticks for {} with the budget {} and the deadline "
                                                "{}: c T < (d - t) Q, so both had to be kept",
                                                time, server_text(id), *account.old_budget, *server.deadline);
                         });
        return;
    }
    if (!account.old_budget || !account.new_budget || !timing().judged) {
        verdicts().undecided(Rule::cbs_arrival);
        return;
    }
    const std::uint64_t earliest = account.arrived > timing().tolerance ? account.arrived - timing().tolerance : 0;
    const bool had_to = renews(server, *account.old_budget, *server.deadline, earliest) == Truth::yes;
    verdicts().judge(Rule::cbs_arrival, !had_to && *account.new_budget == *account.old_budget, std::nullopt, [&] {
        return had_to ? fmt::format("work arrives at about {} ticks for {} with the budget {} and the deadline {}: "
                                    "c T >= (d - t) Q or d <= t, so d = t + T and c = Q were due",
                                    account.arrived, server_text(id), *account.old_budget, *server.deadline)
                      : fmt::format("{} keeps its deadline, but its budget goes from {} to {}", server_text(id),
                                    *account.old_budget, *account.new_budget);
    });
}

void Cbs::judge_exhaustion(std::uint16_t id, const Server& server, Account& account, std::uint64_t recorded) {
    if (!server.deadline || !account.new_budget) {
        verdicts().undecided(Rule::cbs_exhaust);
        return;
    }
    const std::uint64_t period = model().to_ticks(server.period_ns);
    const std::uint64_t capacity = model().to_ticks(server.capacity_ns);
    const std::uint64_t grown = recorded > *server.deadline ? recorded - *server.deadline : 0;
    const std::uint64_t periods = period != 0 ? (grown + period / 2) / period : 0;
    const std::uint64_t expected = model().to_ticks(periods * server.period_ns);
    const bool whole = periods >= 1 && grown + periods >= expected && grown <= expected + periods;
    // A late interrupt has already used part of the next budget.
    const std::uint64_t debt = account.debt.value_or(server.whole ? 0 : capacity);
    const bool refilled = *account.new_budget <= capacity + 1 &&
                          (!timing().judged || *account.new_budget + debt + account.slack + 1 >= capacity);
    verdicts().judge(Rule::cbs_exhaust, whole && refilled, std::nullopt, [&] {
        return fmt::format("{} is exhausted and gets the budget {} and the deadline {}; Q is {}, d + T is {}",
                           server_text(id), *account.new_budget, recorded, capacity, *server.deadline + period);
    });
}

std::optional<std::uint64_t> Grub::zero_lag(const Server& server) const {
    if (!server.budget || !server.deadline || server.capacity_ns == 0 || server.period_ns == 0) {
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

// The job is a kept activation: the server was never without work.
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
        // If the task begins to wait after that time, the server gives its bandwidth back at once, before the wait is
        // recorded.
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

// A reservation that has ended may count until no task with a reservation has work. One that waits may have work again
// without a record, if it is suspended.
void Grub::count_retired() {
    for (const auto& [context, task] : model().tasks()) {
        const bool reserved = task.server || task.policy == Policy::edf || task.policy == Policy::fixed;
        if ((reserved || task.policy == Policy::unknown) && (task.ready != Truth::no || task.waits)) {
            return;
        }
    }
    m_retired = false;
}

// Adds up a share for each reservation, such that nothing is late as long as the sum is at most one. A reservation with
// deadlines has C / min(D, T). Fixed priorities run above them: such a reservation has C / T and once more C / Dmin,
// where Dmin is the shortest D or T of those with deadlines; a server that keeps its budget has C / Dmin twice. None if
// the sum is not known.
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
            return std::nullopt; // which deadline counts depends on the time of the next release
        }
        if (task.policy == Policy::edf) {
            add_deadline(parameters.wcet_ns, parameters.deadline_ns, true);
        } else if (parameters.period_ns != 0) {
            above.push_back({parameters.wcet_ns, parameters.period_ns, 1});
        }
    }
    for (const auto& [id, server] : model().servers()) {
        const auto account = m_accounts.find(id);
        if (server.period_ns == 0 || server.capacity_ns == 0 || server.kind == Policy::unknown) {
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
    if (!m_meter.bandwidth() || !model().reclaims()) {
        return; // without a server that reclaims, changes of the bandwidth are not recorded
    }
    // In a hole reservations may have come and gone.
    const auto load = model().whole() ? this->load() : std::nullopt;
    if (!load) {
        verdicts().undecided(Rule::grub_rate);
        return;
    }
    // If the reservations exceed the whole processor, nothing can be given back.
    const std::uint64_t expected = load->all > kWholeProcessor ? kWholeProcessor : load->active;
    const std::uint64_t recorded = *m_meter.bandwidth();
    if (m_retired && recorded > expected + load->parts) {
        verdicts().undecided(Rule::grub_rate); // a reservation may count until the deadline of the job that ended
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
