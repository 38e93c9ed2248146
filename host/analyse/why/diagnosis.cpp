// SPDX-License-Identifier: MIT
#include "host/analyse/why/diagnosis.hpp"

#include "host/analyse/why/job_case.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::analyse::why {

namespace {

using Role = Item::Role;
using schedule::By;

std::span<const Item> items_of(const JobCase& job) {
    return job.window ? std::span<const Item>(*job.window) : std::span<const Item>();
}

bool is_own(const Item& item, std::uint64_t of_job) {
    return item.role == Role::own && item.job == of_job;
}

// Returns how much of the item belongs to the finding. of_job: the number of the job by which the finding was made.
lib::Ticks part_of(const Item& item, const Finding& finding, std::uint64_t of_job) {
    const bool same_job = item.job == of_job;
    const auto whole = [&](bool condition) { return condition ? item.length() : lib::Ticks{}; };
    switch (finding.cause) {
    case Cause::own_overrun:
        return is_own(item, of_job) ? item.excess : lib::Ticks{};
    case Cause::others_overrun:
        return item.role != Role::note && !is_own(item, of_job) && item.executor.who == finding.who &&
                       item.executor.by != By::interrupt
                   ? item.excess
                   : lib::Ticks{};
    case Cause::interrupt_load:
        return whole(item.cause == Cause::interrupt_load && item.who == finding.who);
    case Cause::priority_order:
        return whole(item.later && item.cause == Cause::load);
    case Cause::load:
        return whole(item.role == Role::preceding && item.cause == Cause::load && item.for_wait == 0);
    case Cause::server_budget:
        return whole((item.cause == Cause::server_budget && item.who == finding.who) ||
                     (item.postponed && same_job && item.role == Role::preceding && item.cause == Cause::load));
    case Cause::late_event:
        return whole(same_job && ((item.cause == Cause::late_event && item.object == finding.object) ||
                                  (item.for_wait != 0 && item.for_wait == finding.object)));
    case Cause::missing_inheritance:
    case Cause::lock_across_wait:
    case Cause::interrupts_off:
    case Cause::critical_section:
    case Cause::unknown:
        return whole(same_job && item.cause == finding.cause && item.who == finding.who &&
                     item.object == finding.object);
    case Cause::execution:
    case Cause::kernel:
        return whole(same_job && item.cause == finding.cause && item.begin < item.end);
    case Cause::tracing:
        break;
    }
    return {};
}

// Returns how much earlier the job would have ended without all of these. of_job: the number of the job of this task by
// which the findings were made.
lib::Ticks gain_without(const JobCase& job, std::span<const Finding> findings, std::uint64_t of_job) {
    const std::span<const Item> items = items_of(job);
    const lib::Ticks end = end_without(items, [](const Item&) { return lib::Ticks{}; });
    const lib::Ticks without = end_without(items, [&](const Item& item) {
        lib::Ticks most{};
        for (const Finding& finding : findings) {
            most = std::max(most, part_of(item, finding, of_job));
        }
        return most;
    });
    lib::Ticks gain = end > without ? end - without : lib::Ticks{};
    for (const Finding& finding : findings) {
        gain = finding.cause == Cause::tracing ? gain + finding.took : gain;
    }
    return gain;
}

// Finds the causes that a job's window shows, each with its gain. A cause without a gain is left out unless it is
// decisive.
class Findings {
  public:
    Findings(const JobCase& job, double ticks_per_record)
        : m_job(job)
        , m_number(job.account.job.number) {
        std::ranges::for_each(items_of(job), [this](const Item& item) { take(item); });
        if (ticks_per_record > 0) {
            const auto cost = static_cast<double>(job.account.records) * ticks_per_record;
            m_all.push_back({.cause = Cause::tracing, .took = {static_cast<std::uint64_t>(cost)}});
        }
        for (Finding& finding : m_all) {
            finding.gain = gain_without(job, std::span(&finding, 1), m_number);
        }
        name_server();
        std::erase_if(m_all, [](const Finding& finding) { return finding.gain == lib::Ticks{} && !finding.decisive; });
    }

    [[nodiscard]] std::vector<Finding> take_all() { return std::move(m_all); }

  private:
    // Returns the finding of this cause and culprit; adds it if it does not exist.
    Finding& at(Cause cause, std::uint32_t who = schedule::kUnknownContext, std::uint32_t object = 0) {
        const auto found = std::ranges::find_if(m_all, [&](const Finding& finding) {
            return finding.cause == cause && finding.who == who && finding.object == object;
        });
        return found != m_all.end() ? *found
                                    : m_all.emplace_back(Finding{.cause = cause, .who = who, .object = object});
    }

    static void add(Finding& finding, const Item& item, lib::Ticks ticks) {
        finding.took = finding.took + ticks;
        if (item.length() > finding.longest) {
            finding.longest = item.length();
            finding.place = item.place;
            finding.ended_by = item.ended_by;
            finding.begun_by = item.begun_by;
            finding.chain = item.chain;
        }
    }

    void take(const Item& item) {
        take_excess(item);
        if (item.job != m_number || item.quiet || item.begin >= item.end) {
            return;
        }
        const bool by_object = item.cause == Cause::late_event || item.cause == Cause::critical_section ||
                               item.cause == Cause::missing_inheritance || item.cause == Cause::lock_across_wait ||
                               item.cause == Cause::unknown;
        const bool by_culprit = by_object || item.cause == Cause::interrupts_off ||
                                item.cause == Cause::interrupt_load || item.cause == Cause::server_budget;
        if (item.cause == Cause::execution) {
            add(at(Cause::execution), item, item.length() - item.excess);
            return;
        }
        Finding& finding = by_culprit ? at(item.cause, item.who, by_object ? item.object : 0) : at(item.cause);
        finding.wait = item.wait != 0 ? item.wait : finding.wait;
        add(finding, item, item.length());
        if (item.cause == Cause::load || item.cause == Cause::missing_inheritance) {
            finding.tasks.push_back(item.executor.who);
        }
        if (item.later && item.cause == Cause::load) {
            Finding& order = at(Cause::priority_order);
            add(order, item, item.length());
            order.tasks.push_back(item.executor.who);
        }
        if (item.postponed && item.cause == Cause::load) {
            add(at(Cause::server_budget, m_job.server ? m_job.server->id : 0U), item, item.length());
        }
    }

    void take_excess(const Item& item) {
        if (item.excess == lib::Ticks{} || item.role == Role::note) {
            return;
        }
        const bool own = is_own(item, m_number);
        Finding& finding = at(own ? Cause::own_overrun : Cause::others_overrun, item.executor.who);
        add(finding, item, item.excess);
        finding.greatest = std::max(finding.greatest, item.total);
        if (item.begin < m_job.account.job.release->ticks && !finding.since) {
            finding.since = item.end - item.excess;
        }
    }

    void name_server() {
        const bool used_up = m_job.server && m_job.server->exhausted != 0;
        for (Finding& finding : m_all) {
            finding.decisive = finding.cause == Cause::server_budget && used_up &&
                               m_job.account.part(schedule::Part::suspension) == lib::Ticks{};
        }
    }

    const JobCase& m_job;
    std::uint64_t m_number;
    std::vector<Finding> m_all;
};

constexpr std::uint64_t kSmallPart = 50; // a smaller part of the response time than 1 / 50 is no fault
constexpr std::uint64_t kInterruptsPart = 10;

// The importance of a finding: faults come first, then what a better design would avoid, then what had to be expected.
enum class Tier : std::uint8_t { fault, design, expected };

Tier tier_of(const Finding& finding, lib::Ticks response) {
    const auto at_least = [&](std::uint64_t part) { return finding.took.value >= response.value / part; };
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

// For a job that was not late, brings the finding that took the most time to the front. If the job has no deadline, a
// fault stays in front.
void choose_greatest(std::vector<Finding>& findings, lib::Ticks response, bool on_time) {
    const bool fault = !on_time && !findings.empty() && tier_of(findings.front(), response) == Tier::fault;
    if (!fault && !findings.empty()) {
        const auto greatest = std::ranges::max_element(findings, {}, &Finding::took);
        std::rotate(findings.begin(), greatest, greatest + 1);
    }
}

class Choice {
  public:
    Choice(Diagnosis& diagnosis, const JobCase& job)
        : m_diagnosis(diagnosis)
        , m_job(job)
        , m_response(job.account.response())
        , m_late{static_cast<std::uint64_t>(*diagnosis.lateness)} {}

    // Brings the findings without which the job would have been on time to the front.
    void make() {
        if (alone(Tier::fault) || alone(Tier::design) || several() || alone(Tier::expected, Cause::load) ||
            alone(Tier::expected, Cause::execution)) {
            return;
        }
        // Otherwise the greatest gain comes first: if its cause is unknown, nothing else may be concluded.
        const auto greatest = std::ranges::max_element(m_diagnosis.findings, {}, &Finding::gain);
        if (greatest != m_diagnosis.findings.end()) {
            std::rotate(m_diagnosis.findings.begin(), greatest, greatest + 1);
        }
    }

  private:
    bool alone(Tier tier, std::optional<Cause> cause = std::nullopt) {
        std::vector<Finding>& findings = m_diagnosis.findings;
        const auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
            return tier_of(finding, m_response) == tier && (finding.gain >= m_late || finding.decisive) &&
                   (!cause || finding.cause == *cause);
        });
        if (found == findings.end()) {
            return false;
        }
        m_diagnosis.needed = 1;
        m_diagnosis.together = found->gain;
        std::rotate(findings.begin(), found, found + 1);
        return true;
    }

    // Chooses the most important findings until they suffice, without those that are not needed.
    bool several() {
        std::vector<Finding> chosen;
        std::vector<Finding> rest;
        for (const Finding& finding : m_diagnosis.findings) {
            const bool counts = tier_of(finding, m_response) != Tier::expected &&
                                finding.gain.value >= m_response.value / kSmallPart && !suffices(chosen);
            (counts ? chosen : rest).push_back(finding);
        }
        if (!suffices(chosen)) {
            return false;
        }
        for (std::size_t i = chosen.size(); i-- > 0;) {
            std::vector<Finding> fewer = chosen;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (suffices(fewer)) {
                rest.insert(rest.begin(), chosen[i]);
                chosen = std::move(fewer);
            }
        }
        m_diagnosis.needed = chosen.size();
        m_diagnosis.together = gain_of(chosen);
        m_diagnosis.findings = std::move(chosen);
        m_diagnosis.findings.insert(m_diagnosis.findings.end(), rest.begin(), rest.end());
        return true;
    }

    [[nodiscard]] lib::Ticks gain_of(const std::vector<Finding>& findings) const {
        return gain_without(m_job, findings, m_job.account.job.number);
    }

    [[nodiscard]] bool suffices(const std::vector<Finding>& findings) const {
        return !findings.empty() && gain_of(findings) >= m_late;
    }

    Diagnosis& m_diagnosis;
    const JobCase& m_job;
    lib::Ticks m_response;
    lib::Ticks m_late;
};

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
    if (const auto deadline = job.account.job.deadline) {
        diagnosis.lateness = static_cast<std::int64_t>(job.account.job.end->ticks.value - deadline->ticks.value);
    }
    if (diagnosis.is_late()) {
        Choice(diagnosis, job).make();
    } else {
        choose_greatest(diagnosis.findings, response, diagnosis.lateness.has_value());
    }
    return diagnosis;
}

bool explains(const JobCase& first, const Diagnosis& diagnosis, const JobCase& job) {
    const auto deadline = job.account.job.deadline;
    if (diagnosis.needed == 0 || !deadline || job.account.job.end->ticks <= deadline->ticks) {
        return diagnosis.needed != 0;
    }
    const std::span<const Finding> needed = std::span(diagnosis.findings).first(diagnosis.needed);
    return gain_without(job, needed, first.account.job.number) >= job.account.job.end->ticks - deadline->ticks;
}

} // namespace host::analyse::why
