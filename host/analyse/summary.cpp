// SPDX-License-Identifier: MIT
// The header states what each figure means.
#include "host/analyse/summary.hpp"

#include "host/analyse/durations.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace host::analyse {

using trace::kCodeOf;

inline void Summary::give(Cpu& cpu, const schedule::ProcessorTime::Stretch& stretch) {
    lib::Ticks& total = stretch.handler ? cpu.interrupts : stretch.task ? cpu.tasks[*stretch.task] : cpu.unknown;
    total = total + stretch.length();
}

// Counts what needs no times.
void Summary::count(const trace::Event& event) {
    switch (event.code) {
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

// The end of a handler may be among the records that are missing.
void Summary::forget_handlers(Cpu& cpu) {
    cpu.open_vectors = {};
    cpu.open_timer.reset();
}

void Summary::follow(const trace::Event& event, Cpu& cpu) {
    if (event.after_hole) [[unlikely]] {
        give(cpu, cpu.time.lose());
        forget_handlers(cpu);
    }
    m_filters.take(event);
    if (trace::Filters::changes(event, trace::Filters::kExecution)) [[unlikely]] {
        for (auto& [number, each] : m_cpus.values()) {
            give(each, each.time.hide(m_filters.hide(trace::Filters::kExecution)));
            forget_handlers(each);
        }
    }
    if (schedule::ProcessorTime::kEndsStretch[event.code]) {
        give(cpu, cpu.time.take(event));
    } else {
        cpu.time.saw(event.ticks);
    }
    const lib::Ticks now = cpu.time.last();
    switch (event.code) {
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
    case kCodeOf<"blackout_end">:
    case kCodeOf<"trace_start">:
        forget_handlers(cpu);
        break;
    default:
        count(event);
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
    follow(event, m_cpus[event.cpu]);
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

void TaskMetrics::add(const schedule::JobAccount& account) {
    const schedule::Job& job = account.job;
    if (job.doubtful || !job.end || !job.release || job.end->ticks < job.release->ticks ||
        account.unaccounted == schedule::Unaccounted::early) {
        return;
    }
    const lib::Ticks took = account.response();
    response.add(took);
    m_responses.push_back(took.value);
    if (m_job && *m_job + 1 == job.number) {
        m_relative = std::max(m_relative, took < m_latest ? m_latest - took : took - m_latest);
    }
    m_job = job.number;
    m_latest = took;
    if (job.start && job.start->ticks >= job.release->ticks) {
        start.add(job.start->ticks - job.release->ticks);
    }
    if (!account.is_known()) {
        return;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].add(account.parts[i]);
    }
    gross.add(account.gross);
    records.add({account.records});
    for (const schedule::Share& share : account.shares) {
        if (share.culprit.part == schedule::Part::blocking) {
            lib::Ticks& sum = blocking_by[static_cast<std::size_t>(share.culprit.inversion)];
            sum = sum + share.ticks;
        }
    }
    dispatches += account.dispatches;
    preemptions += account.preemptions;
    migrations += account.migrations;
}

lib::Ticks TaskMetrics::percentile(std::uint32_t percent) const {
    return {m_responses.empty() ? 0 : analyse::percentile(std::span(m_responses), percent)};
}

namespace {

constexpr double kPart = 256;

lib::Ticks time_of(double ticks) {
    constexpr double kMost = 1e19;
    return {static_cast<std::uint64_t>(ticks < kMost ? ticks : kMost)};
}

} // namespace

std::optional<lib::Ticks> tracing_time(const std::optional<tracer::TraceCost>& cost, std::uint64_t records) {
    return cost && cost->rounds != 0
               ? std::optional(time_of(static_cast<double>(records) * (cost->enabled_ticks_x256 / kPart)))
               : std::nullopt;
}

std::optional<TracingShare> tracing_share(const std::optional<tracer::TraceCost>& cost, std::uint64_t records,
                                          lib::Ticks duration, std::size_t cpus, lib::Ticks removed) {
    if (!cost || cost->rounds == 0) {
        return std::nullopt;
    }
    TracingShare result;
    result.records = records;
    result.ticks_per_record = static_cast<double>(cost->enabled_ticks_x256) / kPart;
    // The time fits into 64 bits for any trace that a machine can hold: 2^40 records of 2^24 ticks each.
    const double ticks = static_cast<double>(records) * result.ticks_per_record;
    result.time = time_of(ticks);
    const double whole =
        static_cast<double>(duration.value) * static_cast<double>(cpus) + static_cast<double>(removed.value);
    if (whole > 0) {
        result.share = ticks / whole;
    }
    return result;
}

void Tally::give(const ProcessorTime::Stretch& stretch) {
    if (stretch.task && !stretch.handler) {
        lib::Ticks& busy = m_busy[*stretch.task];
        busy = busy + stretch.length();
    }
}

void Tally::add(const trace::Event& event) {
    if (event.metadata || !event.is_sound()) {
        return;
    }
    ++m_events;
    m_first = std::min(m_first, event.ticks);
    m_last = std::max(m_last, event.ticks);
    if (event.row == nullptr) {
        if (trace::is_foreign(event)) {
            m_processors[event.cpu].saw(event.ticks);
        }
        return;
    }
    ++m_counts[event.code];
    ProcessorTime& processor = m_processors[event.cpu];
    if (event.after_hole) [[unlikely]] {
        give(processor.lose());
    }
    m_filters.take(event);
    if (trace::Filters::changes(event, trace::Filters::kExecution)) [[unlikely]] {
        for (auto& [number, each] : m_processors.values()) {
            give(each.hide(m_filters.hide(trace::Filters::kExecution)));
        }
    }
    if (ProcessorTime::kEndsStretch[event.code]) {
        give(processor.take(event));
    } else {
        processor.saw(event.ticks);
    }
    if (event.code == kCodeOf<"context_switch">) {
        m_busy.try_emplace(event.par1);
    }
}

void Tally::finish() {
    for (auto& [number, processor] : m_processors.values()) {
        give(processor.finish());
    }
}

} // namespace host::analyse
