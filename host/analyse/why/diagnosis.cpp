// SPDX-License-Identifier: MIT
#include "host/analyse/why/diagnosis.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace host::analyse::why {

namespace {

using schedule::By;
using schedule::Part;
using schedule::Share;

constexpr std::uint64_t kSmallPart = 50; // of the response time: less is no fault worth the name
constexpr std::uint64_t kInterruptsPart = 10;

// Faults first, then what a better design would avoid, then what was to be expected.
enum class Tier : std::uint8_t { fault, design, expected };

Tier tier_of(const Finding& finding, lib::Ticks response) {
    const auto at_least = [&](std::uint64_t part) { return finding.gain.value >= response.value / part; };
    switch (finding.cause) {
    case Cause::missing_inheritance:
    case Cause::lock_across_wait:
    case Cause::own_overrun:
    case Cause::others_overrun:
    case Cause::server_budget:
    case Cause::interrupts_off:
        return at_least(kSmallPart) ? Tier::fault : Tier::design;
    case Cause::interrupt_load:
        return at_least(kInterruptsPart) ? Tier::fault : Tier::design;
    case Cause::priority_order:
    case Cause::critical_section:
    case Cause::late_event:
    case Cause::tracing:
        return Tier::design;
    case Cause::load:
    case Cause::execution:
    case Cause::kernel:
    case Cause::unknown:
        break;
    }
    return Tier::expected;
}

class Findings {
  public:
    Findings(const JobCase& job, double ticks_per_record)
        : m_job(job) {
        std::ranges::for_each(job.account.shares, [this](const Share& share) { take(share); });
        add_executions();
        add_server();
        if (ticks_per_record > 0) {
            m_all.push_back(
                {.cause = Cause::tracing,
                 .gain = {static_cast<std::uint64_t>(static_cast<double>(job.account.records) * ticks_per_record)}});
        }
        std::erase_if(m_all, [](const Finding& finding) { return finding.gain == lib::Ticks{}; });
    }

    [[nodiscard]] std::vector<Finding> take_all() { return std::move(m_all); }

  private:
    // The finding of this cause and culprit.
    Finding& at(Cause cause, std::uint32_t who, std::uint32_t object = 0) {
        const auto found = std::ranges::find_if(m_all, [&](const Finding& finding) {
            return finding.cause == cause && finding.who == who && finding.object == object;
        });
        return found != m_all.end() ? *found
                                    : m_all.emplace_back(Finding{.cause = cause, .who = who, .object = object});
    }

    static void add(Finding& finding, const Share& share) {
        finding.gain = finding.gain + share.ticks;
        if (share.longest > finding.longest) {
            finding.longest = share.longest;
            finding.place = share.longest_place;
        }
    }

    void take(const Share& share) {
        const schedule::Culprit& culprit = share.culprit;
        switch (culprit.part) {
        case Part::execution:
        case Part::interference:
        case Part::jitter:
            take_by(share);
            break;
        case Part::blocking:
            take_blocking(share);
            break;
        case Part::suspension: {
            Finding& finding = at(Cause::late_event, schedule::kUnknownContext, culprit.object);
            add(finding, share);
            for (const Passage& passage : m_job.story.passages()) {
                for (const Portion& portion : passage.portions) {
                    if (portion.culprit == culprit) {
                        finding.ended_by = portion.ended_by;
                    }
                }
            }
            break;
        }
        }
    }

    void take_by(const Share& share) {
        const schedule::Culprit& culprit = share.culprit;
        const bool jitter = culprit.part == Part::jitter;
        switch (culprit.by) {
        case By::task:
            if (jitter && !is_idle(culprit.who)) {
                add(at(Cause::interrupts_off, culprit.who), share);
            } else if (!jitter) {
                Finding& load = at(Cause::load, schedule::kUnknownContext);
                add(load, share);
                load.tasks.push_back(culprit.who);
            }
            break;
        case By::section:
            add(at(Cause::interrupts_off, culprit.who), share);
            break;
        case By::interrupt:
            add(at(Cause::interrupt_load, culprit.who), share);
            break;
        case By::throttling:
            add(at(Cause::server_budget, culprit.who), share);
            break;
        case By::kernel:
            add(at(Cause::kernel, schedule::kUnknownContext), share);
            break;
        case By::unknown:
            add(at(Cause::unknown, schedule::kUnknownContext), share);
            break;
        case By::self:
        case By::backlog:
            break;
        }
    }

    void take_blocking(const Share& share) {
        const schedule::Culprit& culprit = share.culprit;
        if (culprit.end_waits != 0) {
            Finding& finding = at(Cause::lock_across_wait, culprit.chain_end, culprit.object);
            add(finding, share);
            finding.wait = culprit.end_waits;
        } else if (culprit.inversion == schedule::Inversion::unbounded) {
            Finding& finding = at(Cause::missing_inheritance, culprit.holder, culprit.object);
            add(finding, share);
            finding.tasks.push_back(culprit.who);
        } else {
            add(at(Cause::critical_section, culprit.holder, culprit.object), share);
        }
    }

    [[nodiscard]] bool is_idle(std::uint32_t context) const {
        return m_job.names->find(tracer::Unit::context, context) == "idle";
    }

    [[nodiscard]] lib::Ticks interference_of(std::uint32_t task) const {
        lib::Ticks sum{};
        for (const Share& share : m_job.account.shares) {
            if (share.culprit.part == Part::interference && share.culprit.by == By::task && share.culprit.who == task) {
                sum = sum + share.ticks;
            }
        }
        return sum;
    }

    void add_executions() {
        const std::uint32_t own = m_job.account.job.context;
        Finding overrun{.cause = Cause::others_overrun};
        Finding order{.cause = Cause::priority_order};
        std::vector<std::pair<lib::Ticks, std::uint32_t>> overrunning;
        std::vector<std::pair<lib::Ticks, std::uint32_t>> later;
        for (const auto& [context, other] : m_job.others) {
            if (context == own) {
                m_all.push_back({.cause = Cause::own_overrun, .gain = other.excess, .who = own});
                continue;
            }
            const lib::Ticks share = interference_of(context);
            overrunning.emplace_back(std::min(other.excess, share), context);
            later.emplace_back(std::min(other.later, share), context);
        }
        collect(overrun, overrunning);
        collect(order, later);
        m_all.push_back(overrun);
        m_all.push_back(order);
        const lib::Ticks execution = m_job.account.part(Part::execution);
        const auto self = m_job.others.find(own);
        const lib::Ticks excess = self != m_job.others.end() ? std::min(self->second.excess, execution) : lib::Ticks{};
        m_all.push_back({.cause = Cause::execution, .gain = execution - excess, .who = own});
    }

    static void collect(Finding& finding, std::vector<std::pair<lib::Ticks, std::uint32_t>>& tasks) {
        std::ranges::sort(tasks, std::ranges::greater{});
        for (const auto& [ticks, context] : tasks) {
            if (ticks > lib::Ticks{}) {
                finding.gain = finding.gain + ticks;
                finding.tasks.push_back(context);
            }
        }
    }

    void add_server() {
        if (m_job.server && m_job.server->exhausted != 0 && m_job.server->waited > lib::Ticks{}) {
            Finding& finding = at(Cause::server_budget, m_job.server->id);
            finding.gain = finding.gain + m_job.server->waited;
            finding.decisive = m_job.account.part(Part::suspension) == lib::Ticks{};
        }
    }

    const JobCase& m_job;
    std::vector<Finding> m_all;
};

// Every overrun since the processor was free for the task: work that was late already at the release.
std::optional<Finding> earlier_overruns(const JobCase& job) {
    Finding finding{.cause = Cause::others_overrun, .since = job.busy_since};
    std::vector<std::pair<lib::Ticks, std::uint32_t>> tasks;
    for (const auto& [context, other] : job.others) {
        finding.gain = finding.gain + other.busy_excess;
        if (other.busy_excess > lib::Ticks{}) {
            tasks.emplace_back(other.busy_excess, context);
        }
    }
    std::ranges::sort(tasks, std::ranges::greater{});
    for (const auto& [ticks, context] : tasks) {
        finding.tasks.push_back(context);
    }
    return tasks.empty() ? std::nullopt : std::optional(finding);
}

// Of a job that was not late: what took the greatest part. Of one without a deadline a fault first.
void choose_greatest(std::vector<Finding>& findings, lib::Ticks response, bool on_time) {
    const bool fault = !on_time && !findings.empty() && tier_of(findings.front(), response) == Tier::fault;
    if (!fault && !findings.empty()) {
        const auto greatest = std::ranges::max_element(findings, {}, &Finding::gain);
        std::rotate(findings.begin(), greatest, greatest + 1);
    }
}

// Brings what would have sufficed to the front; returns how many that are.
std::size_t choose(std::vector<Finding>& findings, const JobCase& job, lib::Ticks late) {
    const lib::Ticks response = job.account.response();
    const auto alone = [&](Tier tier) {
        return std::ranges::find_if(findings, [&](const Finding& finding) {
            return tier_of(finding, response) == tier && (finding.gain >= late || finding.decisive);
        });
    };
    const auto to_front = [&](auto found) { std::rotate(findings.begin(), found, found + 1); };
    if (const auto found = alone(Tier::fault); found != findings.end()) {
        to_front(found);
        return 1;
    }
    if (const auto earlier = earlier_overruns(job); earlier && earlier->gain >= late) {
        std::erase_if(findings, [](const Finding& finding) {
            return finding.cause == Cause::others_overrun || finding.cause == Cause::own_overrun;
        });
        findings.insert(findings.begin(), *earlier);
        return 1;
    }
    if (const auto found = alone(Tier::design); found != findings.end()) {
        to_front(found);
        return 1;
    }
    lib::Ticks sum{};
    std::size_t count = 0;
    const auto counts = [&](const Finding& finding) {
        return tier_of(finding, response) != Tier::expected && finding.gain.value >= response.value / kSmallPart;
    };
    while (count < findings.size() && counts(findings[count]) && sum < late) {
        sum = sum + findings[count++].gain;
    }
    if (sum >= late) {
        return count;
    }
    if (const auto found = alone(Tier::expected); found != findings.end()) {
        to_front(found);
        return 1;
    }
    for (count = 0, sum = {}; count < findings.size() && sum < late; ++count) {
        sum = sum + findings[count].gain;
    }
    return sum >= late ? count : 0;
}

} // namespace

Diagnosis diagnose(const JobCase& job, double ticks_per_record) {
    Diagnosis diagnosis;
    diagnosis.findings = Findings(job, ticks_per_record).take_all();
    const lib::Ticks response = job.account.response();
    std::ranges::stable_sort(diagnosis.findings, [&](const Finding& a, const Finding& b) {
        const Tier tier_a = tier_of(a, response);
        const Tier tier_b = tier_of(b, response);
        return tier_a != tier_b ? tier_a < tier_b : a.gain > b.gain;
    });
    if (const auto deadline = job.deadline()) {
        diagnosis.lateness = static_cast<std::int64_t>(job.account.job.end->ticks.value - deadline->ticks.value);
    }
    if (diagnosis.is_late()) {
        diagnosis.needed = choose(diagnosis.findings, job, {static_cast<std::uint64_t>(*diagnosis.lateness)});
    } else {
        choose_greatest(diagnosis.findings, response, diagnosis.lateness.has_value());
    }
    return diagnosis;
}

} // namespace host::analyse::why
