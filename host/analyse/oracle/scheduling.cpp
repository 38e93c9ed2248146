// SPDX-License-Identifier: MIT
// The theories of the order of places, of chains, and of the slices of the round robin.
#include "host/analyse/oracle/theory.hpp"

#include "host/text/format.hpp"

namespace host::analyse::oracle {

void Scheduling::judge_inheritance(const trace::Event& event) {
    const Task* const exec = model().find(static_cast<std::uint16_t>(event.par2));
    const auto end = exec != nullptr ? model().chain_end(*exec) : std::nullopt;
    if (!end) {
        verdicts().undecided(Rule::shadow_chain);
        return;
    }
    verdicts().judge(Rule::shadow_chain, *end == event.par1, event.par1, [&] {
        return fmt::format("the chain of {} ends in {}, but {} is recorded as inheriting", model().name(exec->context),
                           model().name(*end), model().name(event.par1));
    });
}

// Precondition: m_changed has a value, and the running task is known. A decision must follow what requires it as soon
// as the interrupt or the primitive ends.
void Scheduling::judge_late(const trace::Event& event) {
    const auto& running = model().running();
    if (!timing().judged || event.ticks.value <= *m_changed + timing().tolerance) {
        return;
    }
    const Task* const exec = model().find(running->exec);
    const Task* const shadow = model().find(running->shadow);
    bool unknown = !model().complete();
    if (exec == nullptr || shadow == nullptr || exec->ready != Truth::yes || unknown) {
        return;
    }
    m_late = fmt::format("; it continues without a decision for {} ticks", event.ticks.value - *m_changed);
    const auto end = model().chain_end(*exec);
    if (end && *end != shadow->context) {
        judge_chain(*exec, *shadow);
    } else if (passed_over(*exec, unknown) != nullptr) {
        judge_order(*exec);
    }
    m_late.clear();
    m_changed.reset();
}

void Scheduling::judge_decision(const trace::Event& event) {
    const Task* const exec = model().find(static_cast<std::uint16_t>(event.par2));
    const Task* const shadow = model().find(event.par1);
    if ((exec == nullptr || shadow == nullptr) && model().complete()) {
        verdicts().fail(Rule::block_state, std::nullopt,
                        fmt::format("{} is chosen for the place of {}, and there is no such task",
                                    model().name(event.par1), model().name(static_cast<std::uint16_t>(event.par2))));
        return;
    }
    if (exec == nullptr || shadow == nullptr) {
        verdicts().undecided(Rule::block_state);
        verdicts().undecided(Rule::shadow_chain);
        verdicts().undecided(Rule::level_order);
        return;
    }
    judge_state(*exec, *shadow);
    judge_chain(*exec, *shadow);
    judge_order(*exec);
}

void Scheduling::judge_state(const Task& exec, const Task& shadow) {
    if (exec.ready == Truth::unknown || shadow.ready == Truth::unknown) {
        verdicts().undecided(Rule::block_state);
    } else if (shadow.ready == Truth::no) {
        verdicts().fail(Rule::block_state, shadow.context,
                        fmt::format("{} is dispatched, but it is not ready", model().name(shadow.context)));
    } else {
        verdicts().judge(Rule::block_state, exec.ready == Truth::yes, exec.context, [&] {
            return fmt::format("the place of {} is used, but it is in no ready queue", model().name(exec.context));
        });
    }
    if (exec.policy != Policy::polling && exec.policy != Policy::deferrable) {
        return;
    }
    if (model().has_budget(exec) == Truth::unknown) {
        verdicts().undecided(Rule::server_budget);
    } else {
        verdicts().judge(Rule::server_budget, model().has_budget(exec) == Truth::yes, exec.context, [&] {
            return fmt::format("{} is served although its server's budget is 0", model().name(exec.context));
        });
    }
}

void Scheduling::judge_chain(const Task& exec, const Task& shadow) {
    const auto end = model().chain_end(exec);
    if (!end) {
        verdicts().undecided(Rule::shadow_chain);
        return;
    }
    if (*end == shadow.context) {
        verdicts().pass(Rule::shadow_chain);
        return;
    }
    const bool stack = model().stopped(exec) == Truth::yes;
    const Rule rule = stack                            ? Rule::srp_start
                      : *end == exec.context           ? Rule::pi_return
                      : shadow.context == exec.context ? Rule::pi_inheritance
                                                       : Rule::shadow_chain;
    verdicts().fail(rule, shadow.context,
                    fmt::format("the chain of {} ends in {}, but {} runs in its place{}", model().name(exec.context),
                                model().name(*end), model().name(shadow.context), m_late));
}

const Task* Scheduling::passed_over(const Task& exec, bool& unknown) const {
    const Task* missed = nullptr;
    for (const auto& [context, task] : model().tasks()) {
        if (&task == &exec) {
            continue;
        }
        const Truth queued = model().is_queued(task);
        if (queued == Truth::no) {
            continue;
        }
        const Truth before = model().before(task, exec);
        if (before == Truth::no) {
            continue;
        }
        const auto end = model().chain_end(task);
        const Task* const runner = end ? model().find(*end) : nullptr;
        if (runner != nullptr && runner->ready == Truth::no) {
            continue;
        }
        if (queued == Truth::unknown || before == Truth::unknown || runner == nullptr ||
            runner->ready == Truth::unknown) {
            unknown = true;
            continue;
        }
        if (missed == nullptr || model().before(task, *missed) == Truth::yes) {
            missed = &task;
        }
    }
    return missed;
}

Rule Scheduling::order_rule(const Task& exec, const Task& missed) const {
    if (model().chain_end(missed) != missed.context) {
        return Rule::pi_inheritance;
    }
    if (model().rank(exec) != model().rank(missed)) {
        // The idle task has the level of the background tasks.
        return missed.policy == exec.policy ? Rule::fifo_order : Rule::level_order;
    }
    if (exec.server && exec.server == missed.server) {
        return Rule::fifo_order;
    }
    switch (exec.policy) {
    case Policy::edf:
    case Policy::cbs:
    case Policy::grub:
        return Rule::edf_order;
    case Policy::fixed:
    case Policy::polling:
    case Policy::deferrable:
        return Rule::rm_order;
    case Policy::round_robin:
        return exec.parameters.budget_ns != 0 ? Rule::rr_order : Rule::fifo_order;
    case Policy::background:
    case Policy::unknown:
        break;
    }
    return Rule::fifo_order;
}

void Scheduling::judge_order(const Task& exec) {
    bool unknown = !model().complete() || !model().rank(exec);
    const Task* const missed = passed_over(exec, unknown);
    if (missed != nullptr) {
        const auto end = model().chain_end(*missed);
        const std::string behalf = end && *end != missed->context
                                       ? fmt::format(", whose place {} should use", model().name(*end))
                                       : std::string();
        verdicts().fail(order_rule(exec, *missed), exec.context,
                        fmt::format("the place of {} is used, but {}{} comes first{}", model().place_text(exec),
                                    model().place_text(*missed), behalf, m_late));
        return;
    }
    const Rule rule = order_rule(exec, exec);
    unknown ? verdicts().undecided(rule) : verdicts().pass(rule);
    unknown ? verdicts().undecided(Rule::level_order) : verdicts().pass(Rule::level_order);
}

using trace::kCodeOf;

std::optional<std::uint64_t> RoundRobin::length(std::uint16_t context) const {
    const Task* const task = model().find(context);
    if (task == nullptr || task->policy != Policy::round_robin || task->parameters.budget_ns == 0 || !model().timed()) {
        return std::nullopt;
    }
    return task->slice_ticks;
}

void RoundRobin::event(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"job_release">:
        if (length(event.par1)) {
            m_slices[event.par1] = Slice{.known = model().processor_known()};
        }
        break;
    case kCodeOf<"slice_end">:
        end_slice(event);
        break;
    case kCodeOf<"task_end">:
        m_slices.erase(event.par1);
        break;
    case kCodeOf<"task_schedule">:
        settle(event);
        break;
    default:
        break;
    }
}

void RoundRobin::ran(const Interval& interval) {
    if (length(interval.exec)) {
        Slice& slice = m_slices[interval.exec];
        const std::uint64_t begin = interval.begin > slice.from ? interval.begin : slice.from;
        slice.used += interval.end > begin ? interval.end - begin : 0;
        ++slice.intervals;
    }
}

void RoundRobin::end_slice(const trace::Event& event) {
    const auto slice_ticks = length(event.par1);
    Slice& slice = m_slices[event.par1];
    const std::uint64_t used = slice.used + so_far(event.par1, slice.from, event.ticks.value);
    const std::uint64_t slack = timing().tolerance * (slice.intervals + 1);
    if (!slice_ticks || !slice.known || !timing().judged) {
        verdicts().undecided(Rule::rr_slice);
    } else {
        verdicts().judge(Rule::rr_slice, used + slack >= *slice_ticks && used <= *slice_ticks + slack, event.par1, [&] {
            return fmt::format("the slice of {} ends after {} ticks, it has {}", model().name(event.par1), used,
                               *slice_ticks);
        });
    }
    // Whether it continues is only known if a record has shown who runs.
    slice = Slice{.known = model().running().has_value(), .from = event.ticks.value};
}

void RoundRobin::settle(const trace::Event& event) {
    if (!model().jobs_recorded() || !timing().judged) {
        return; // older kernels did not record the ends of slices
    }
    for (auto& [context, slice] : m_slices) {
        const std::uint64_t used = slice.used + so_far(context, slice.from, event.ticks.value);
        const std::uint64_t slack = timing().tolerance * (slice.intervals + 1);
        const auto slice_ticks = slice.known && used > slack ? length(context) : std::nullopt;
        if (slice_ticks && used > *slice_ticks + slack) {
            verdicts().fail(Rule::rr_slice, context,
                            fmt::format("the place of {} was used for {} ticks, its slice is {}, and has not ended",
                                        model().name(context), used, *slice_ticks));
            slice.known = false;
        }
    }
}

} // namespace host::analyse::oracle
