// SPDX-License-Identifier: MIT
#include "host/analyse/oracle/any_kernel.hpp"

#include "host/text/format.hpp"

#include <algorithm>

namespace host::analyse::oracle {

using trace::kCodeOf;

void AnyKernel::forget() {
    m_tasks.clear();
    m_processors.clear();
}

bool AnyKernel::is_idle(std::uint16_t context) const {
    const trace::TaskNames* const known = model().names().task(context);
    return known != nullptr && known->name == "idle";
}

// Neither the boot nor an idle task waits for a processor.
bool AnyKernel::waits_for_processor(std::uint16_t context, const Ready& task) const {
    return context != 0 && task.ready == Truth::yes && !task.runs && !is_idle(context);
}

// A task may be bound to one processor, so another one that idles proves nothing.
bool AnyKernel::all_idle() const {
    return std::ranges::all_of(m_processors, [this](const auto& entry) {
        const Processor& processor = entry.second;
        return processor.context && processor.handlers == 0 && is_idle(*processor.context);
    });
}

std::optional<std::uint64_t> AnyKernel::key(std::uint16_t context, const Ready& task) const {
    if (m_order == Order::fifo || m_order == Order::rr) {
        return task.queued != 0 ? std::optional(task.queued) : std::nullopt;
    }
    const trace::TaskNames* const known = model().names().task(context);
    if (known == nullptr || !known->parameters) {
        return std::nullopt;
    }
    const tracer::TaskParameters& parameters = *known->parameters;
    if (m_order == Order::fixed || m_order == Order::fixed_high) {
        return m_order == Order::fixed ? parameters.level : 0xFFFF - parameters.level;
    }
    if (m_order == Order::rm) {
        return parameters.period_ns != 0 ? std::optional(parameters.period_ns) : std::nullopt;
    }
    return parameters.deadline_ns != 0 && task.release != 0 && model().timed()
               ? std::optional(task.release + model().to_ticks(parameters.deadline_ns))
               : std::nullopt;
}

// Judges the time before the event, in which nothing happened on its processor.
void AnyKernel::judge_waiting(const trace::Event& event, const Processor& here) {
    if (!timing().judged || !here.context || here.handlers != 0) {
        return;
    }
    const bool idles = verdicts().hooks().stated() && is_idle(*here.context) && all_idle();
    const auto mine = m_tasks.find(*here.context);
    const bool preempts = m_order && m_order != Order::fifo && m_order != Order::rr && m_processors.size() == 1;
    const auto running =
        preempts && mine != m_tasks.end() && mine->second.locks == 0 ? key(mine->first, mine->second) : std::nullopt;
    if (!idles && !running) {
        return;
    }
    for (auto& [context, task] : m_tasks) {
        const std::uint64_t from = std::max(here.last, task.since);
        if (task.accused || !waits_for_processor(context, task) || event.ticks.value <= from + timing().tolerance) {
            continue;
        }
        const std::uint64_t waited = event.ticks.value - from;
        if (idles) {
            task.accused = true;
            verdicts().fail(
                Rule::work_conservation, context,
                fmt::format("{} is ready, and the processor idles for {} ticks", model().name(context), waited));
        } else if (const auto other = key(context, task); other && *other < *running) {
            task.accused = true;
            verdicts().fail(Rule::policy_order, context,
                            fmt::format("{} comes first by {}, but {} continues for {} ticks", model().name(context),
                                        word(*m_order), model().name(*here.context), waited));
        }
    }
}

void AnyKernel::judge_choice(const trace::Event& event, const Processor& here) {
    const std::uint16_t chosen = event.par1;
    Ready& task = m_tasks[chosen];
    if (!verdicts().hooks().stated() || m_processors.size() != 1 || task.ready == Truth::unknown) {
        verdicts().undecided(Rule::block_state); // the stamps of two processors may differ
    } else {
        verdicts().judge(Rule::block_state, task.ready == Truth::yes, chosen,
                         [&] { return fmt::format("{} runs, but it waits", model().name(chosen)); });
    }
    if (!m_order) {
        return;
    }
    const auto mine = key(chosen, task);
    if (!mine || task.locks != 0 || m_processors.size() != 1) {
        verdicts().undecided(Rule::policy_order);
        return;
    }
    for (const auto& [context, other] : m_tasks) {
        const auto its = key(context, other);
        // Who became ready after the decision began may have come too late for it.
        if (context != chosen && waits_for_processor(context, other) && its && *its < *mine &&
            other.since <= here.decision) {
            verdicts().fail(Rule::policy_order, chosen,
                            fmt::format("{} is chosen, but {} comes first by {}", model().name(chosen),
                                        model().name(context), word(*m_order)));
            return;
        }
    }
    verdicts().pass(Rule::policy_order);
}

void AnyKernel::dispatch(const trace::Event& event, Processor& here) {
    const std::uint64_t now = event.ticks.value;
    if (here.context && *here.context != event.par1) {
        Ready& former = m_tasks[*here.context];
        former.runs = false;
        former.since = now;
        former.accused = false;
        if (m_order == Order::rr && former.ready == Truth::yes) {
            former.queued = ++m_queued;
        }
        if (is_idle(*here.context) && verdicts().hooks().stated()) {
            timing().judged ? verdicts().pass(Rule::work_conservation) : verdicts().undecided(Rule::work_conservation);
        }
    }
    if (event.par1 != 0 && !is_idle(event.par1) && here.context != event.par1) {
        judge_choice(event, here);
    }
    Ready& task = m_tasks[event.par1];
    task.ready = Truth::yes;
    task.runs = true;
    here.context = event.par1;
}

void AnyKernel::set_ready(std::uint16_t context, const trace::Event& event) {
    Ready& task = m_tasks[context];
    if (task.ready != Truth::yes) {
        task.release = event.ticks.value;
        task.queued = ++m_queued;
    }
    if (!task.runs) {
        task.since = event.ticks.value;
        task.accused = false;
    }
    task.ready = Truth::yes;
}

void AnyKernel::take(const trace::Event& event, Processor& here) {
    switch (event.code) {
    case kCodeOf<"task_create">:
        m_tasks[event.par1] = {.ready = Truth::no};
        break;
    case kCodeOf<"task_unblock">:
    case kCodeOf<"job_release">:
        set_ready(event.par1, event);
        break;
    case kCodeOf<"task_block">:
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"task_sleep">:
    case kCodeOf<"task_end">:
        m_tasks[event.par1].ready = Truth::no;
        here.decision = event.ticks.value;
        break;
    case kCodeOf<"task_epilogue">:
    case kCodeOf<"task_schedule">:
        here.decision = event.ticks.value;
        break;
    case kCodeOf<"slice_end">:
        m_tasks[event.par1].queued = ++m_queued;
        break;
    case kCodeOf<"set_mutex_acquire">:
        ++m_tasks[event.par1].locks;
        break;
    case kCodeOf<"set_mutex_unlock">: {
        unsigned& locks = m_tasks[event.par1].locks;
        locks -= locks != 0 ? 1 : 0;
        break;
    }
    case kCodeOf<"interrupt_start">:
        ++here.handlers;
        break;
    case kCodeOf<"interrupt_end">:
        here.handlers -= here.handlers != 0 ? 1 : 0;
        break;
    case kCodeOf<"context_switch">:
        dispatch(event, here);
        break;
    default:
        break;
    }
}

void AnyKernel::event(const trace::Event& event) {
    Processor& here = m_processors[event.cpu];
    judge_waiting(event, here);
    take(event, here);
    here.last = event.ticks.value;
}

} // namespace host::analyse::oracle
