// SPDX-License-Identifier: MIT
// One pass over the events; see the header for what each figure means.
#include "host/analyse/summary.hpp"

#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse {

using trace::kCodeOf;

inline void Summary::give(Cpu& cpu, const schedule::ProcessorTime::Stretch& stretch) {
    lib::Ticks& total = stretch.handler ? cpu.interrupts : stretch.task ? cpu.tasks[*stretch.task] : cpu.unknown;
    total = total + stretch.length();
}

// What needs no time.
[[gnu::always_inline]] inline void Summary::count(const trace::Event& event, std::uint8_t code) {
    switch (code) {
    case kCodeOf<"task_create">:
    case kCodeOf<"context_switch">:
        m_tasks[event.par1];
        break;
    case kCodeOf<"task_activate">:
        ++m_tasks[event.par1].activations;
        break;
    case kCodeOf<"task_timer">:
        ++m_tasks[event.par1].releases;
        break;
    case kCodeOf<"task_dispatch">:
        ++m_tasks[event.par1].dispatches;
        break;
    case kCodeOf<"task_end_cycle">:
        ++m_tasks[event.par1].jobs;
        break;
    case kCodeOf<"task_deadline_miss">:
        ++m_tasks[event.par1].deadline_misses;
        break;
    case kCodeOf<"task_wcet_violation">:
        ++m_tasks[event.par1].wcet_violations;
        break;
    case kCodeOf<"inheritance">:
        ++m_tasks[event.par1].inheritances;
        break;
    case kCodeOf<"interrupt_hit">:
        ++m_vectors[event.par1].count;
        break;
    case kCodeOf<"interrupt_count">:
        m_vectors[event.par1].count += event.par2;
        break;
    case kCodeOf<"typed_event">:
    case kCodeOf<"formatted_event">:
        ++m_user_events[trace::user_event_name(event)];
        break;
    case kCodeOf<"panic">:
        ++m_panics;
        break;
    default:
        break;
    }
}

[[gnu::always_inline]] inline void Summary::follow(const trace::Event& event, std::uint8_t code, Cpu& cpu) {
    if (schedule::ProcessorTime::kEndsStretch[code]) {
        give(cpu, cpu.time.take(event, code));
    }
    const lib::Ticks now = cpu.time.last();
    switch (code) {
    case kCodeOf<"interrupt_start">:
        ++m_vectors[event.par1].count;
        cpu.open_vectors[event.par1] = now;
        break;
    case kCodeOf<"interrupt_end">:
        if (const auto open = std::exchange(cpu.open_vectors[event.par1], std::nullopt)) {
            m_vectors[event.par1].handler.add(now - *open);
        }
        break;
    case kCodeOf<"timer_wakeup_start">:
        ++m_timer.count;
        cpu.open_timer = now;
        break;
    case kCodeOf<"timer_wakeup_end">:
        if (cpu.open_timer) {
            m_timer.handler.add(now - *cpu.open_timer);
            cpu.open_timer.reset();
        }
        break;
    default:
        count(event, code);
        break;
    }
}

void Summary::add(const trace::Event& event) {
    if (event.metadata || !event.is_sound()) {
        return;
    }
    ++m_events;
    m_first = std::min(m_first, event.ticks);
    m_last = std::max(m_last, event.ticks);
    if (event.row == nullptr) {
        ++m_unknown;
        if (trace::is_foreign(event)) {
            m_cpus[event.cpu].time.saw(event.ticks);
        }
        return;
    }
    ++m_families[event.code & 0x0F];
    Cpu& cpu = m_cpus[event.cpu];
    if (!schedule::ProcessorTime::kEndsStretch[event.code]) {
        cpu.time.saw(event.ticks);
    }
    follow(event, event.code, cpu);
}

void Summary::add(std::span<const trace::Event> batch) {
    add(batch.front());
    batch = batch.subspan(1);
    if (batch.empty()) {
        return;
    }
    m_events += batch.size();
    m_last = std::max(m_last, batch.back().ticks);
    Cpu& cpu = m_cpus[batch.front().cpu];
    trace::for_each_by_code(batch, [this, &cpu](const trace::Event& event, std::size_t /*position*/, auto code) {
        ++m_families[code & 0x0F];
        follow(event, code, cpu);
    });
    cpu.time.saw(batch.back().ticks);
}

void Summary::finish() {
    for (auto& [number, cpu] : m_cpus.values()) {
        give(cpu, cpu.time.finish());
        for (const auto& [context, ticks] : cpu.tasks.values()) {
            lib::Ticks& total = m_tasks[context].cpu_time;
            total = total + ticks;
        }
    }
}

lib::Ticks Uses::sum() const {
    lib::Ticks sum = interrupts + unknown;
    for (const auto& [context, ticks] : tasks) {
        sum = sum + ticks;
    }
    return sum;
}

std::map<std::uint16_t, Uses> Summary::uses() const {
    std::map<std::uint16_t, Uses> uses;
    for (const auto& [number, cpu] : m_cpus.values()) {
        uses[number] = {.tasks = cpu.tasks.values(), .interrupts = cpu.interrupts, .unknown = cpu.unknown};
    }
    return uses;
}

lib::Ticks Summary::duration() const {
    return m_last >= m_first ? m_last - m_first : lib::Ticks{};
}

lib::Ticks Summary::interrupt_time() const {
    lib::Ticks sum;
    for (const auto& [number, cpu] : m_cpus.values()) {
        sum = sum + cpu.interrupts;
    }
    return sum;
}

} // namespace host::analyse
