// SPDX-License-Identifier: MIT
// One pass over the events; see the header for what each figure means.
#include "host/analyse/summary.hpp"

#include "host/trace/foreign.hpp"
#include "host/trace/user_event.hpp"

#include <algorithm>

namespace host::analyse {

using trace::kCodeOf;

void Durations::add(lib::Ticks duration) {
    ++m_count;
    m_sum.value = m_sum.value > ~duration.value ? ~std::uint64_t{0} : m_sum.value + duration.value;
    m_least = std::min(m_least, duration);
    m_greatest = std::max(m_greatest, duration);
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
    give(cpu, cpu.time.take(event));
    add_interrupt(event, cpu);
    add_task(event);
    if (event.is(kCodeOf<"context_switch">)) {
        m_tasks.try_emplace(event.par1);
    } else if (event.is(kCodeOf<"typed_event">) || event.is(kCodeOf<"formatted_event">)) {
        ++m_user_events[trace::user_event_name(event)];
    } else if (event.is(kCodeOf<"panic">)) {
        ++m_panics;
    }
}

void Summary::give(Cpu& cpu, const schedule::ProcessorTime::Stretch& stretch) {
    if (stretch.handler) {
        cpu.interrupt_time = cpu.interrupt_time + stretch.length();
    } else if (stretch.task) {
        lib::Ticks& total = m_tasks[*stretch.task].cpu_time;
        total = total + stretch.length();
    }
}

void Summary::add_interrupt(const trace::Event& event, Cpu& cpu) {
    const lib::Ticks now = cpu.time.last();
    switch (event.code) {
    case kCodeOf<"interrupt_start">:
        ++m_vectors[event.par1].count;
        cpu.open_vectors[event.par1] = now;
        break;
    case kCodeOf<"interrupt_end">:
        if (const auto open = cpu.open_vectors.find(event.par1); open != cpu.open_vectors.end()) {
            m_vectors[event.par1].handler.add(now - open->second);
            cpu.open_vectors.erase(open);
        }
        break;
    case kCodeOf<"interrupt_hit">:
        ++m_vectors[event.par1].count;
        break;
    case kCodeOf<"interrupt_count">:
        m_vectors[event.par1].count += event.par2;
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
        break;
    }
}

void Summary::add_task(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"task_create">:
        m_tasks[event.par1];
        break;
    case kCodeOf<"task_activate">:
        ++m_tasks[event.par1].activations;
        release(event, true);
        break;
    case kCodeOf<"task_timer">:
        ++m_tasks[event.par1].releases;
        release(event, false);
        break;
    case kCodeOf<"task_dispatch">:
        ++m_tasks[event.par1].dispatches;
        break;
    case kCodeOf<"task_begin_cycle">:
        if (auto& queue = m_releases[event.par1]; !queue.empty()) {
            queue.front().may_be_replaced = false;
        }
        break;
    case kCodeOf<"job_skipped">: // the release before it comes to nothing
        if (auto& queue = m_releases[event.par1]; !queue.empty()) {
            queue.pop_back();
        }
        break;
    case kCodeOf<"task_end_cycle">:
        end_job(event);
        break;
    case kCodeOf<"task_end">:
        m_releases.erase(event.par1);
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
    default:
        break;
    }
}

void Summary::release(const trace::Event& event, bool by_activation) {
    std::deque<Release>& queue = m_releases[event.par1];
    if (!by_activation && queue.size() == 1 && queue.front().may_be_replaced) {
        queue.clear();
    }
    queue.push_back({.at = event.ticks, .may_be_replaced = by_activation});
    if (queue.size() > kReleasesMax) {
        queue.pop_front();
    }
}

void Summary::end_job(const trace::Event& event) {
    TaskFigures& task = m_tasks[event.par1];
    ++task.jobs;
    std::deque<Release>& queue = m_releases[event.par1];
    if (queue.empty()) {
        return; // released before the trace began
    }
    if (event.ticks >= queue.front().at) {
        task.response.add(event.ticks - queue.front().at);
    }
    queue.pop_front();
}

void Summary::finish() {
    for (auto& [number, cpu] : m_cpus) {
        give(cpu, cpu.time.finish());
    }
}

lib::Ticks Summary::duration() const {
    return m_last >= m_first ? m_last - m_first : lib::Ticks{};
}

lib::Ticks Summary::interrupt_time() const {
    lib::Ticks sum;
    for (const auto& [number, cpu] : m_cpus) {
        sum = sum + cpu.interrupt_time;
    }
    return sum;
}

} // namespace host::analyse
