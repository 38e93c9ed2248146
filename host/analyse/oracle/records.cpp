// SPDX-License-Identifier: MIT
// Judges the order of records.
#include "host/analyse/oracle/records.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <array>
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

// Returns the number of the task or server that a record is about.
constexpr std::uint16_t subject_of(const trace::Event& event) {
    const bool in_par2 = event.code == kCodeOf<"server_replenish"> || event.code == kCodeOf<"server_active"> ||
                         event.code == kCodeOf<"server_exhaust">;
    return in_par2 ? static_cast<std::uint16_t>(event.par2) : event.par1;
}

} // namespace

template <typename Text>
void Records::judge(Habit& habit, Rule rule, bool holds, std::uint16_t task, Text&& text) {
    if (habit.broken) {
        return;
    }
    if (holds) {
        ++habit.held; // it is not counted as a check, because it says nothing about a decision
    } else if (habit.held >= habit.needed) {
        verdicts().fail(rule, task != 0 ? std::optional(task) : std::nullopt, text());
    } else {
        habit.broken = true;
    }
}

void Records::forget() {
    m_stamp.reset();
    m_expected.reset();
    m_refilling = true;
    m_before = 0;
    m_dropping = false;
    m_awaited.reset();
    m_current.reset();
    m_dispatched.reset();
    m_handlers.clear();
    m_handlers_known = false;
    m_causes.clear();
}

void Records::event(const trace::Event& event, bool strict) {
    judge_clock(event, strict);
    judge_handlers(event);
    m_dropping = m_dropping || event.code == kCodeOf<"blackout_start">;
    if (!is_of_schedule(event.row->family()) || event.code == kCodeOf<"server_bandwidth">) {
        return; // a change of the bandwidth may be recorded within a piece
    }
    judge_next(event);
    judge_pieces(event);
    judge_turns(event);
    judge_causes(event);
    m_before = event.code;
    m_subject_before = event.par1;
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

void Records::expect(Habit& habit, const trace::Event& event, std::uint16_t subject, std::array<std::uint8_t, 2> codes,
                     std::optional<std::uint32_t> par2) {
    m_expected = {.habit = &habit, .after = event.row->name, .subject = subject, .codes = codes, .par2 = par2};
}

// Judges whether what the record before requires has come.
void Records::judge_next(const trace::Event& event) {
    if (!m_expected || (event.code == kCodeOf<"inheritance"> && m_expected->codes[0] == kCodeOf<"context_switch">)) {
        return;
    }
    const Expected expected = *std::exchange(m_expected, std::nullopt);
    if (expected.habit == &m_lock && event.code == kCodeOf<"server_active">) {
        return; // whom the mutex kept takes its place again before another one has it, and what follows is its budget
    }
    const bool is_first = event.code == expected.codes[0] && (!expected.par2 || *expected.par2 == event.par2);
    const bool comes = (is_first || event.code == expected.codes[1]) && subject_of(event) == expected.subject;
    const bool of_server = static_cast<tracer::Family>(expected.codes[0] & 0x0F) == tracer::Family::server;
    judge(*expected.habit, Rule::record_order, comes, of_server ? std::uint16_t{0} : expected.subject, [&] {
        return fmt::format("{} of {} is followed by {}, not by {}{}", expected.after,
                           of_server ? fmt::format("server {}", expected.subject) : model().name(expected.subject),
                           event.row->name, tracer::find_event(expected.codes[0])->name,
                           expected.par2 ? fmt::format(" with {}", *expected.par2) : "");
    });
}

// Judges a record that only comes after certain others. holds: whether the one before is one of them.
void Records::judge_after(Habit& habit, bool holds, const trace::Event& event) {
    if (m_before != 0) {
        const bool of_server = event.row->family() == tracer::Family::server;
        judge(habit, Rule::record_order, holds, of_server ? std::uint16_t{0} : event.par1, [&] {
            return fmt::format("{} of {} comes after {}", event.row->name,
                               of_server ? fmt::format("server {}", subject_of(event)) : model().name(event.par1),
                               tracer::find_event(m_before)->name);
        });
    }
}

// Judges records that only come after certain others, and notes what they require.
void Records::judge_pieces(const trace::Event& event) {
    judge_decision(event);
    judge_mutexes(event);
    judge_servers(event);
    judge_exceptions(event);
    switch (event.code) {
    case kCodeOf<"job_deadline">:
        expect(m_priority, event, event.par1, {kCodeOf<"set_priority">});
        break;
    case kCodeOf<"set_priority">:
        judge_after(m_priority, m_before == kCodeOf<"job_deadline">, event);
        if (m_before == kCodeOf<"job_deadline">) {
            judge_stated(event);
        }
        break;
    case kCodeOf<"context_switch">:
        judge_after(m_switch, m_before == kCodeOf<"task_dispatch"> || m_before == kCodeOf<"inheritance">, event);
        m_current = event.par1;
        break;
    case kCodeOf<"job_queued">:
    case kCodeOf<"job_skipped">:
        judge_after(m_answer,
                    (m_before == kCodeOf<"task_activate"> || m_before == kCodeOf<"task_timer">)&&m_subject_before ==
                        event.par1,
                    event);
        break;
    default:
        break;
    }
    m_refilling = m_refilling && event.code == kCodeOf<"server_budget">;
    m_refilling = m_refilling || event.code == kCodeOf<"server_active"> || event.code == kCodeOf<"server_replenish">;
}

// The kernel decides when no task has the processor, and dispatches the one that it has chosen; or the task that has it
// continues.
void Records::judge_decision(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"task_schedule">:
        if (m_dispatched && *m_dispatched == 0) {
            expect(m_decision, event, event.par1, {kCodeOf<"task_dispatch">, kCodeOf<"task_begin_cycle">});
        } else if (m_dispatched) {
            judge(m_decision, Rule::record_order, *m_dispatched == event.par1, event.par1, [&] {
                return fmt::format("the scheduler chooses {}, and no record states that {} has left the processor",
                                   model().name(event.par1), model().name(*m_dispatched));
            });
        }
        break;
    case kCodeOf<"task_begin_cycle">:
        if (m_before == kCodeOf<"task_schedule">) {
            expect(m_decision, event, event.par1, {kCodeOf<"task_dispatch">});
        }
        break;
    case kCodeOf<"task_dispatch">:
        judge_after(m_decision, m_before == kCodeOf<"task_schedule"> || m_before == kCodeOf<"task_begin_cycle">, event);
        if (m_current && *m_current != event.par1) {
            expect(m_switch, event, event.par1, {kCodeOf<"context_switch">});
        }
        break;
    default:
        break;
    }
}

// Returns whether a mutex is known to have no owner, and no ceiling that can keep a task from it.
bool Records::is_free(std::uint32_t id) const {
    const Mutex* const mutex = model().mutex(id);
    return mutex != nullptr && mutex->known && mutex->owner == 0 && mutex->protocol &&
           *mutex->protocol != Protocol::ceiling;
}

// A task that asks for a mutex acquires it, or leaves the processor to wait.
void Records::judge_mutexes(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"set_mutex_lock">:
        expect(m_lock, event, event.par1,
               {kCodeOf<"set_mutex_acquire">, is_free(event.par2) ? std::uint8_t{0} : kCodeOf<"task_epilogue">},
               event.par2);
        break;
    case kCodeOf<"set_mutex_block">:
        if (const Mutex* const mutex = model().mutex(event.par2); mutex != nullptr && mutex->known) {
            expect(m_inherit, event, mutex->owner, {kCodeOf<"set_mutex_inherit">}, event.par2);
        }
        break;
    case kCodeOf<"set_mutex_inherit">:
        judge_after(m_inherit, m_before == kCodeOf<"set_mutex_block"> || m_before == kCodeOf<"set_mutex_acquire">,
                    event);
        break;
    default:
        break;
    }
}

// When work arrives at a server, and when it is replenished, its budget and its deadline are recorded; when it is
// charged, its budget alone.
void Records::judge_servers(const trace::Event& event) {
    if (event.row->family() != tracer::Family::server) {
        return;
    }
    const std::uint16_t id = subject_of(event);
    const auto server = model().servers().find(id);
    const bool is_dynamic = server != model().servers().end() &&
                            (server->second.kind == Policy::cbs || server->second.kind == Policy::grub);
    switch (event.code) {
    case kCodeOf<"server_active">:
        expect(m_refill, event, id, {kCodeOf<"server_budget">, kCodeOf<"server_replenish">});
        break;
    case kCodeOf<"server_exhaust">:
        if (is_dynamic) {
            expect(m_refill, event, id, {kCodeOf<"server_replenish">});
        }
        break;
    case kCodeOf<"server_replenish">:
        if (is_dynamic) {
            judge_after(m_refill, m_before == kCodeOf<"server_active"> || m_before == kCodeOf<"server_exhaust">, event);
        }
        expect(m_refill, event, id, {kCodeOf<"server_budget">});
        break;
    case kCodeOf<"server_budget">:
        if (m_before == kCodeOf<"server_active"> || m_before == kCodeOf<"server_replenish">) {
            expect(m_refill, event, id, {kCodeOf<"server_deadline">});
        }
        break;
    case kCodeOf<"server_deadline">:
        judge_after(m_refill, m_refilling && m_before == kCodeOf<"server_budget">, event);
        break;
    default:
        break;
    }
}

// What a task does wrong is recorded, then the kernel's reaction. Faults of the processor are not of the schedule.
void Records::judge_exceptions(const trace::Event& event) {
    constexpr std::array<std::uint8_t, 4> kCauses = {0, kCodeOf<"task_deadline_miss">, kCodeOf<"task_wcet_violation">,
                                                     kCodeOf<"activation_violation">};
    if (event.code == kCodeOf<"task_exception">) {
        const std::uint32_t exception = event.par2 >> 16;
        if (exception != 0 && exception < kCauses.size()) {
            judge_after(m_exception, m_before == kCauses[exception] && m_subject_before == event.par1, event);
        }
    } else if (!m_dropping && std::ranges::find(kCauses, event.code) != kCauses.end()) {
        expect(m_exception, event, event.par1, {kCodeOf<"task_exception">});
    }
}

// The two records of a deadline, one in ticks and one in microseconds, state the same time but for their rounding.
void Records::judge_stated(const trace::Event& event) {
    const auto deadline = model().timed() ? model().times().deadline(event.par1) : std::nullopt;
    if (!deadline) {
        return;
    }
    const auto stated = static_cast<std::uint32_t>(model().to_ns(*deadline) / 1'000);
    judge(m_stated, Rule::record_order, event.par2 + 1 - stated <= 2, event.par1, [&] {
        return fmt::format("set_priority of {} has the deadline {} us, the job_deadline before it {} ticks, which are "
                           "{} us",
                           model().name(event.par1), event.par2, *deadline, stated);
    });
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

// More handlers than there are vectors cannot have begun: what these are is not known.
void Records::begin(std::uint16_t handler) {
    constexpr std::size_t kHandlersMax = 256;
    if (m_handlers.size() == kHandlersMax) {
        m_handlers.clear();
        m_handlers_known = false;
    }
    m_handlers.push_back(handler);
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

// A timer that finds its task without a job, and the end of a job after which another one waits, release a job at once.
void Records::judge_awaited(const trace::Event& event) {
    const bool comes = event.code == kCodeOf<"job_release"> && m_awaited == event.par1;
    if (m_awaited && (comes || event.code == kCodeOf<"task_schedule">)) {
        judge(m_cause, Rule::release_cause, comes, *m_awaited,
              [&] { return fmt::format("a job of {} is due to be released, and is not", model().name(*m_awaited)); });
        m_awaited.reset();
    }
}

// Each job comes from an activation or from the timer of its task, and the one before has ended. If a task without a
// hard deadline has a job, an activation of it is kept or dropped at once.
void Records::judge_causes(const trace::Event& event) {
    judge_awaited(event);
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
    case kCodeOf<"task_timer">:
        judge_arrival(event, causes, hard);
        break;
    case kCodeOf<"job_skipped">:
        causes.count -= causes.count != 0 ? 1 : 0;
        break;
    case kCodeOf<"job_release">:
        judge(m_cause, Rule::release_cause, causes.count != 0, event.par1, [&] {
            return fmt::format("a job of {} is released without an activation and without its timer",
                               model().name(event.par1));
        });
        judge(m_end, Rule::release_cause, !causes.busy, event.par1, [&] {
            return fmt::format("a job of {} is released, and no record states that the one before has ended",
                               model().name(event.par1));
        });
        causes.count -= causes.count != 0 ? 1 : 0;
        causes.busy = true;
        break;
    case kCodeOf<"task_end_cycle">:
        causes.busy = false;
        if (causes.count != 0) {
            m_awaited = event.par1;
        }
        break;
    case kCodeOf<"task_disable">:
    case kCodeOf<"task_sleep">:
        m_awaited.reset();
        causes = {};
        break;
    case kCodeOf<"task_end">:
        m_awaited.reset();
        m_causes.erase(known);
        break;
    default:
        break;
    }
}

// hard: the timer of the task releases each of its jobs. Any other task answers an arrival at once if it has a job, or
// an activation for a later time.
void Records::judge_arrival(const trace::Event& event, Causes& causes, bool hard) {
    const bool by_timer = event.code == kCodeOf<"task_timer">;
    if (hard && !by_timer) {
        return;
    }
    if (!hard && (causes.busy || (causes.count != 0 && !by_timer))) {
        expect(m_answer, event, event.par1, {kCodeOf<"job_queued">, kCodeOf<"job_skipped">});
    } else if (!causes.busy && by_timer) {
        m_awaited = event.par1;
        causes.count = 0; // an activation that waited for the timer
    }
    ++causes.count;
}

} // namespace host::analyse::oracle
