// SPDX-License-Identifier: MIT
// The model behind ScheduleView. What a kernel did is in docs/events.md; here each record moves one task or processor.
#include "host/convert/schedule_view.hpp"
#include "tracer/unit_words.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace host::convert {

namespace {

using enum TaskState;
using trace::kCodeOf;

constexpr std::size_t kContexts = 0x1'0000;

// Of the wait word in task_block, in the order of tracer::kWaitNames.
constexpr std::array<TaskState, 9> kWaitStates = {unknown, semaphore, delay,  condition, receive,
                                                  send,    suspended, signal, mutex};
static_assert(kWaitStates.size() == tracer::kWaitNames.size());

TaskState wait_state(std::uint32_t word) {
    const std::uint32_t kind = word >> 16;
    const TaskState state = kind < kWaitStates.size() ? kWaitStates[kind] : unknown;
    return state == unknown ? suspended : state; // older records do not say for what
}

} // namespace

std::string_view state_name(TaskState state) {
    switch (state) {
    case unknown:
        return "unknown";
    case ready:
        return "ready";
    case job:
        return "next job";
    case semaphore:
        return "semaphore";
    case delay:
        return "delay";
    case condition:
        return "condition";
    case receive:
        return "receive";
    case send:
        return "send";
    case suspended:
        return "suspended";
    case signal:
        return "signal";
    case mutex:
        return "mutex";
    case ended:
        return "ended";
    }
    return "unknown";
}

ScheduleView::ScheduleView()
    : m_states(kContexts + 1, unknown) {}

std::uint32_t ScheduleView::running(std::uint16_t cpu) const {
    return cpu < m_processors.size() ? m_processors[cpu].running : kUnknownContext;
}

TaskState ScheduleView::state(std::uint32_t context) const {
    return m_states[std::min<std::size_t>(context, kContexts)];
}

std::uint32_t ScheduleView::interrupt_depth(std::uint16_t cpu) const {
    return cpu < m_processors.size() ? m_processors[cpu].depth : 0;
}

ScheduleView::Processor& ScheduleView::processor(std::uint16_t cpu) {
    if (cpu >= m_processors.size()) {
        m_processors.resize(std::size_t{cpu} + 1);
    }
    return m_processors[cpu];
}

std::span<const Change> ScheduleView::take(const trace::Event& event) {
    m_changes.clear();
    if (event.row == nullptr || !event.is_sound()) {
        return {};
    }
    const std::uint32_t par1 = event.par1;
    const std::uint32_t par2 = event.par2;
    switch (event.code) {
    case kCodeOf<"context_switch">:
        switched(processor(event.cpu), par1);
        break;
    case kCodeOf<"task_schedule">:
        scheduled(par1, par2);
        break;
    case kCodeOf<"inheritance">:
        if (std::ranges::find(m_heirs, par1) == m_heirs.end()) {
            m_heirs.push_back(par1);
        }
        change({.kind = Change::Kind::inherits, .context = par1, .other = par2});
        break;
    // Whom a processor leaves is told before whom it takes: that helps where the trace begins in the middle.
    case kCodeOf<"task_epilogue">:
        if (Processor& here = processor(event.cpu); here.running == kUnknownContext) {
            here.running = par1;
        }
        break;
    case kCodeOf<"task_create">:
        m_states[par1] = unknown;
        change({.kind = Change::Kind::created, .context = par1});
        break;
    case kCodeOf<"task_end">:
        ended(par1);
        break;
    // A periodic task is activated long before its first release.
    case kCodeOf<"task_activate">:
        if (state(par1) == unknown) {
            wait(par1, job, 0);
        }
        break;
    case kCodeOf<"job_release">:
    case kCodeOf<"task_unblock">:
        wake(par1);
        break;
    case kCodeOf<"task_block">:
        wait(par1, wait_state(par2), par2 & 0xFFFF);
        break;
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"task_sleep">:
    case kCodeOf<"job_abort">:
        wait(par1, job, 0);
        break;
    case kCodeOf<"set_mutex_block">:
        wake(par1); // if it lent to another one, it does no more
        m_changes.clear();
        wait(par1, mutex, par2);
        m_lenders.push_back(par1);
        m_mutexes.push_back(par2);
        break;
    case kCodeOf<"set_mutex_acquire">:
    case kCodeOf<"set_mutex_timeout">:
        if (state(par1) == mutex) {
            wake(par1);
        }
        break;
    case kCodeOf<"set_mutex_unlock">:
    case kCodeOf<"set_mutex_owner_died">:
        unlocked(par2);
        break;
    case kCodeOf<"interrupt_start">:
        interrupt_began(processor(event.cpu), par1);
        break;
    case kCodeOf<"interrupt_end">:
        interrupt_ended(processor(event.cpu), par1);
        break;
    case kCodeOf<"blackout_end">:
        lost(processor(event.cpu), par2);
        break;
    default:
        break;
    }
    return m_changes;
}

void ScheduleView::wake(std::uint32_t context) {
    const TaskState before = state(context);
    m_states[context] = ready;
    if (const auto found = std::ranges::find(m_lenders, context); found != m_lenders.end()) {
        m_mutexes.erase(m_mutexes.begin() + (found - m_lenders.begin()));
        m_lenders.erase(found);
    }
    if (before != ready) {
        change({.kind = Change::Kind::woken, .state = before, .context = context});
    }
}

void ScheduleView::wait(std::uint32_t context, TaskState state, std::uint32_t object) {
    m_states[context] = state;
    change({.kind = Change::Kind::waits, .state = state, .context = context, .object = object});
}

// Whoever gets the processor was ready, even if the record of it is missing.
void ScheduleView::switched(Processor& here, std::uint32_t context) {
    const std::uint32_t before = here.running;
    here.running = context;
    if (before == context) {
        return;
    }
    if (state(context) != ready) {
        wake(context);
    }
    const TaskState left = state(before);
    change(
        {.kind = Change::Kind::switched, .state = left == unknown ? ready : left, .context = context, .other = before});
}

void ScheduleView::scheduled(std::uint32_t shadow, std::uint32_t exec) {
    if (shadow != exec) {
        return; // `inheritance` follows
    }
    if (const auto found = std::ranges::find(m_heirs, shadow); found != m_heirs.end()) {
        m_heirs.erase(found);
        change({.kind = Change::Kind::returns, .context = shadow});
    }
}

// Nobody is handed the mutex: all that wait for it may try again.
void ScheduleView::unlocked(std::uint32_t mutex_id) {
    for (std::size_t i = 0; i < m_lenders.size();) {
        if (m_mutexes[i] == mutex_id) {
            wake(m_lenders[i]); // takes it out of the list
        } else {
            ++i;
        }
    }
}

void ScheduleView::interrupt_began(Processor& here, std::uint32_t vector) {
    if (here.depth == kNestedMax) {
        return;
    }
    here.vectors[here.depth++] = static_cast<std::uint16_t>(vector);
    change({.kind = Change::Kind::interrupt_began, .object = vector});
}

// An end without its begin: the begin lies before the trace or in a gap. Ends that are missing are made up for.
void ScheduleView::interrupt_ended(Processor& here, std::uint32_t vector) {
    std::uint32_t place = here.depth;
    while (place > 0 && here.vectors[place - 1] != static_cast<std::uint16_t>(vector)) {
        --place;
    }
    while (place > 0 && here.depth >= place) {
        --here.depth;
        change({.kind = Change::Kind::interrupt_ended, .object = here.vectors[here.depth]});
    }
}

// What was nested when the gap began has ended somewhere in it, and anybody may have got the processor.
void ScheduleView::lost(Processor& here, std::uint32_t records) {
    while (here.depth > 0) {
        --here.depth;
        change({.kind = Change::Kind::interrupt_ended, .object = here.vectors[here.depth]});
    }
    here.running = kUnknownContext;
    change({.kind = Change::Kind::lost, .object = records});
}

void ScheduleView::ended(std::uint32_t context) {
    wake(context); // out of all lists
    m_changes.clear();
    m_states[context] = TaskState::ended;
    change({.kind = Change::Kind::ended, .context = context});
}

bool is_idle(const trace::Names& names, std::uint32_t context) {
    if (context >= kContexts) {
        return false;
    }
    const trace::TaskNames* const task = names.task(static_cast<std::uint16_t>(context));
    return task != nullptr && task->name == "idle";
}

std::uint32_t tid_of(const trace::Names& names, std::uint32_t context) {
    if (context >= kContexts) {
        return kUnknownTid;
    }
    if (is_idle(names, context)) {
        return 0;
    }
    return context == 0 ? kContextZeroTid : context;
}

std::string task_label(const trace::Names& names, std::uint32_t context) {
    if (context >= kContexts) {
        return "unknown";
    }
    const std::string_view name = names.find(tracer::Unit::context, context);
    return name.empty() ? fmt::format("context-{}", context) : std::string(name);
}

std::uint16_t level_of(const trace::Names& names, std::uint32_t context) {
    const trace::TaskNames* const task =
        context < kContexts ? names.task(static_cast<std::uint16_t>(context)) : nullptr;
    return task != nullptr && task->parameters ? task->parameters->level : std::uint16_t{0xFFFF};
}

std::string vector_label(const trace::Names& names, std::uint32_t vector) {
    const std::string_view name = names.find(tracer::Unit::vector, vector);
    return name.empty() ? fmt::format("vector-{}", vector) : std::string(name);
}

} // namespace host::convert
