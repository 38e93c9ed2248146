// SPDX-License-Identifier: MIT
// Sums of the verdicts, and the relaxations.
#include "host/analyse/oracle/verdicts.hpp"

#include <utility>

namespace host::analyse::oracle {

namespace {

struct Hook {
    Rule rule;
    std::string_view event;
};

// In no order; a rule that needs none is not here.
constexpr auto kHooks = std::to_array<Hook>({
    {Rule::block_state, "task_unblock"},
    {Rule::work_conservation, "task_unblock"},
    {Rule::policy_order, "task_unblock"},
    {Rule::wake_order, "task_unblock"},
    {Rule::server_budget, "server_budget"},
    {Rule::cbs_arrival, "server_budget"},
    {Rule::cbs_exhaust, "server_budget"},
    {Rule::cbs_budget, "server_budget"},
    {Rule::cbs_isolation, "server_budget"},
    {Rule::grub_zero_lag, "server_budget"},
    {Rule::grub_budget, "server_budget"},
    {Rule::server_replenish, "server_budget"},
    {Rule::grub_rate, "server_bandwidth"},
    {Rule::mutex_owner, "set_mutex_acquire"},
    {Rule::pc_grant, "set_mutex_protocol"},
    {Rule::pc_block, "set_mutex_protocol"},
    {Rule::srp_start, "set_mutex_protocol"},
    {Rule::srp_block, "set_mutex_protocol"},
    {Rule::ceiling, "set_mutex_ceiling"},
    {Rule::release_period, "job_release"},
    {Rule::edf_deadline, "job_release"},
    {Rule::rm_deadline, "job_release"},
    {Rule::deadline_miss, "task_deadline_miss"},
    {Rule::wcet_violation, "task_wcet_violation"},
    {Rule::activation_violation, "activation_violation"},
    {Rule::skip_save, "job_skipped"},
    {Rule::rr_slice, "slice_end"},
    {Rule::lost_wakeup, "set_mutex_post"},
    {Rule::semaphore_count, "set_mutex_post"},
    {Rule::release_cause, "task_activate"},
    {Rule::one_processor, "context_switch"},
    {Rule::level_order, "task_schedule"},
    {Rule::edf_order, "task_schedule"},
    {Rule::rm_order, "task_schedule"},
    {Rule::rr_order, "task_schedule"},
    {Rule::fifo_order, "task_schedule"},
    {Rule::shadow_chain, "task_schedule"},
    {Rule::pi_inheritance, "task_schedule"},
    {Rule::pi_return, "task_schedule"},
    {Rule::record_order, "task_schedule"},
});

} // namespace

std::string_view hook_of(Rule rule) {
    const auto* const found = std::ranges::find(kHooks, rule, &Hook::rule);
    return found != kHooks.end() ? found->event : std::string_view();
}

void Verdicts::set_hooks(const tracer::Hooks& hooks) {
    if (hooks == m_hooks) {
        return;
    }
    m_hooks = hooks;
    m_expected = 0;
    for (const tracer::EventRow& row : tracer::kEvents) {
        m_expected |= hooks.has(row.code) ? 1U << static_cast<unsigned>(row.family()) : 0;
    }
    for (const RuleRow& row : kRules) {
        const std::string_view hook = hook_of(row.rule);
        m_unhooked[static_cast<std::size_t>(row.rule)] =
            hooks.stated() && !hook.empty() &&
            !hooks.has(std::ranges::find(tracer::kEvents, hook, &tracer::EventRow::name)->code);
    }
}

void Verdicts::note(const trace::Names& names) {
    m_names_version = names.version();
    for (const auto& [unit, family] : {std::pair(tracer::Unit::mutex, tracer::Family::mutex),
                                       std::pair(tracer::Unit::semaphore, tracer::Family::mutex),
                                       std::pair(tracer::Unit::server, tracer::Family::server)}) {
        if (const auto* const named = names.entries(unit); named != nullptr && !named->empty()) {
            m_expected |= 1U << static_cast<unsigned>(family);
        }
    }
}

void Verdicts::relax(std::string why) {
    if (m_reasons.insert(why).second) { // there may be one for each chunk
        m_relaxations.push_back(std::move(why));
    }
}

namespace {

void add(Tally& sum, const Tally& part) {
    sum.checked += part.checked;
    sum.undecided += part.undecided;
    sum.violations += part.violations;
}

} // namespace

Tally Verdicts::of(Subject subject) const {
    Tally sum;
    for (const RuleRow& row : kRules) {
        if (row.subject == subject) {
            add(sum, of(row.rule));
        }
    }
    return sum;
}

Tally Verdicts::total() const {
    Tally sum;
    for (const Tally& tally : m_tallies) {
        add(sum, tally);
    }
    return sum;
}

} // namespace host::analyse::oracle
