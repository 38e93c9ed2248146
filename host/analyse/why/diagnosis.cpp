// SPDX-License-Identifier: MIT
#include "host/analyse/why/diagnosis.hpp"

#include "host/analyse/why/findings.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace host::analyse::why {

namespace {

constexpr std::uint64_t kSmallPart = 50; // of the response time: less is no fault worth the name
constexpr std::uint64_t kInterruptsPart = 10;

// Faults first, then what a better design would avoid, then what was to be expected.
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

// Of a job that was not late: what took the greatest part. Of one without a deadline a fault first.
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

    // Brings that without which the job would have been on time to the front.
    void make() {
        if (alone(Tier::fault) || alone(Tier::design) || several() || alone(Tier::expected, Cause::load) ||
            alone(Tier::expected, Cause::execution)) {
            return;
        }
        // What is not known comes first: nothing else may be concluded.
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

    // The most important ones until they suffice, less those of them that are not needed.
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
    diagnosis.findings = find_causes(job, ticks_per_record);
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
