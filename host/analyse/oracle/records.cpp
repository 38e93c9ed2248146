// SPDX-License-Identifier: MIT
// Judges the order of records.
#include "host/analyse/oracle/records.hpp"

#include "host/text/format.hpp"

#include <utility>

namespace host::analyse::oracle {

using trace::kCodeOf;

namespace {

constexpr std::uint16_t kTimerWork = 0xFFFF; // means the work of the timer interrupt among the vectors

// Records of these families state what the kernel does with interrupts off; others may come between them.
constexpr bool is_of_schedule(tracer::Family family) {
    return family == tracer::Family::task || family == tracer::Family::job || family == tracer::Family::attribute ||
           family == tracer::Family::mutex || family == tracer::Family::server;
}

constexpr const auto& kAnswers = trace::kAnyOf<"job_queued", "job_skipped">;

} // namespace

template <typename Text>
void Records::judge(Habit& habit, Rule rule, bool holds, std::uint16_t task, Text&& text) {
    if (habit.broken) {
        return;
    }
    if (holds) {
        ++habit.held; // it is not counted as a check, because it says nothing about a decision
    } else if (habit.held >= kHabit) {
        verdicts().fail(rule, task != 0 ? std::optional(task) : std::nullopt, text());
    } else {
        habit.broken = true;
    }
}

void Records::forget() {
    m_stamp.reset();
    m_expected.reset();
    m_before = 0;
    m_current.reset();
    m_dispatched.reset();
    m_handlers.clear();
    m_handlers_known = false;
    m_causes.clear();
}

void Records::event(const trace::Event& event, bool strict) {
    judge_clock(event, strict);
    judge_handlers(event);
    if (!is_of_schedule(event.row->family())) {
        return;
    }
    judge_next(event);
    judge_pieces(event);
    judge_turns(event);
    judge_causes(event);
    m_before = event.code;
}

void Records::judge_clock(const trace::Event& event, bool strict) {
    const std::uint64_t now = event.ticks.value;
    ++m_events;
    m_moved = m_moved || (m_stamp && *m_stamp != now);
    if (m_stamp && (strict || *m_stamp != now)) {
        judge(m_clock, Rule::clock_advance, now > *m_stamp, 0, [&] {
            return fmt::format("the record has the stamp {}, the one before it has {}: each record takes time", now,
                               *m_stamp);
        });
    }
    m_stamp = now;
}

// Judges whether what the record before requires has come.
void Records::judge_next(const trace::Event& event) {
    if (!m_expected || (event.code == kCodeOf<"inheritance"> && m_expected->code == kCodeOf<"context_switch">)) {
        return;
    }
    const Expected expected = *std::exchange(m_expected, std::nullopt);
    const bool is_answer = expected.habit == &m_answer && kAnswers[event.code];
    const bool comes = (event.code == expected.code || is_answer) && event.par1 == expected.context &&
                       (!expected.par2 || *expected.par2 == event.par2);
    judge(*expected.habit, Rule::record_order, comes, expected.context, [&] {
        return fmt::format("{} of {} is followed by {}, not by {}{}", expected.after, model().name(expected.context),
                           event.row->name, tracer::find_event(expected.code)->name,
                           expected.par2 ? fmt::format(" with {}", *expected.par2) : "");
    });
}

// Judges records that only come after certain others, and notes what they require.
void Records::judge_pieces(const trace::Event& event) {
    const auto follows = [&](Habit& habit, bool holds) {
        if (m_before != 0) {
            judge(habit, Rule::record_order, holds, event.par1, [&] {
                return fmt::format("{} of {} comes after {}", event.row->name, model().name(event.par1),
                                   tracer::find_event(m_before)->name);
            });
        }
    };
    switch (event.code) {
    case kCodeOf<"job_deadline">:
        m_expected = {
            .habit = &m_priority, .after = event.row->name, .code = kCodeOf<"set_priority">, .context = event.par1};
        break;
    case kCodeOf<"set_priority">:
        follows(m_priority, m_before == kCodeOf<"job_deadline">);
        break;
    case kCodeOf<"set_mutex_block">:
        m_expected = {
            .habit = &m_inherit, .after = event.row->name, .code = kCodeOf<"set_mutex_inherit">, .context = event.par1};
        if (const Mutex* const mutex = model().mutex(event.par2); mutex != nullptr && mutex->known) {
            m_expected->context = mutex->owner;
            m_expected->par2 = event.par2;
        } else {
            m_expected.reset();
        }
        break;
    case kCodeOf<"set_mutex_inherit">:
        follows(m_inherit, m_before == kCodeOf<"set_mutex_block"> || m_before == kCodeOf<"set_mutex_acquire">);
        break;
    case kCodeOf<"task_dispatch">:
        if (m_current && *m_current != event.par1) {
            m_expected = {
                .habit = &m_switch, .after = event.row->name, .code = kCodeOf<"context_switch">, .context = event.par1};
        }
        break;
    case kCodeOf<"context_switch">:
        follows(m_switch, m_before == kCodeOf<"task_dispatch"> || m_before == kCodeOf<"inheritance">);
        m_current = event.par1;
        break;
    default:
        break;
    }
}

// A task is dispatched after the one before has left, and leaves once.
void Records::judge_turns(const trace::Event& event) {
    const bool begins = event.code == kCodeOf<"task_dispatch">;
    if (!begins && event.code != kCodeOf<"task_epilogue">) {
        return;
    }
    if (m_dispatched) {
        judge(m_turn, Rule::record_order, *m_dispatched == (begins ? 0 : event.par1), event.par1, [&] {
            return begins ? fmt::format("{} is dispatched, and no record states that {} has left the processor",
                                        model().name(event.par1), model().name(*m_dispatched))
                          : fmt::format("{} leaves the processor, which it did not have", model().name(event.par1));
        });
    }
    m_dispatched = begins ? event.par1 : std::uint16_t{0};
}

void Records::end(std::uint16_t handler, const trace::Event& event) {
    if (m_handlers_known) {
        judge(m_handler, Rule::record_order, !m_handlers.empty() && m_handlers.back() == handler, 0,
              [&] { return fmt::format("{} ends what has not begun, or not last", event.row->name); });
    }
    if (!m_handlers.empty()) {
        m_handlers.pop_back();
    }
}

// The scheduler decides after the last handler.
void Records::judge_handlers(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"interrupt_start">:
        begin(event.par1);
        break;
    case kCodeOf<"timer_wakeup_start">:
        begin(kTimerWork);
        break;
    case kCodeOf<"interrupt_end">:
        end(event.par1, event);
        break;
    case kCodeOf<"timer_wakeup_end">:
        end(kTimerWork, event);
        break;
    case kCodeOf<"task_schedule">:
        judge(m_handler, Rule::record_order, m_handlers.empty(), 0, [&] {
            return fmt::format("the scheduler decides while a handler that began has not ended ({} of them)",
                               m_handlers.size());
        });
        m_handlers.clear();
        m_handlers_known = true;
        break;
    default:
        break;
    }
}

// Each job comes from an activation or from the timer of its task. If a task without a hard deadline has a job, an
// activation of it is kept or dropped at once.
void Records::judge_causes(const trace::Event& event) {
    if (event.code == kCodeOf<"task_create">) {
        m_causes[event.par1] = {};
        return;
    }
    const auto known = m_causes.find(event.par1);
    if (known == m_causes.end() || event.row->family() == tracer::Family::attribute ||
        event.row->family() == tracer::Family::mutex || event.row->family() == tracer::Family::server) {
        return;
    }
    Causes& causes = known->second;
    const Task* const task = model().find(event.par1);
    const bool hard = task == nullptr || task->policy == Policy::edf || task->policy == Policy::fixed;
    switch (event.code) {
    case kCodeOf<"task_activate">:
        if (hard) {
            break; // the timer of such a task releases each of its jobs
        }
        if (causes.busy) {
            m_expected = {
                .habit = &m_answer, .after = event.row->name, .code = kCodeOf<"job_queued">, .context = event.par1};
        }
        ++causes.count;
        break;
    case kCodeOf<"task_timer">:
        ++causes.count;
        break;
    case kCodeOf<"job_skipped">:
        causes.count -= causes.count != 0 ? 1 : 0;
        break;
    case kCodeOf<"job_release">:
        judge(m_cause, Rule::release_cause, causes.count != 0, event.par1, [&] {
            return fmt::format("a job of {} is released without an activation and without its timer",
                               model().name(event.par1));
        });
        causes.count -= causes.count != 0 ? 1 : 0;
        causes.busy = true;
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"job_abort">:
        causes.busy = false;
        break;
    case kCodeOf<"task_disable">:
    case kCodeOf<"task_sleep">:
        causes = {};
        break;
    case kCodeOf<"task_end">:
        m_causes.erase(known);
        break;
    default:
        break;
    }
}

} // namespace host::analyse::oracle
