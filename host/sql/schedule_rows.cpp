// SPDX-License-Identifier: MIT
// The states of tasks, event by event.
#include "host/sql/schedule_rows.hpp"

#include "host/trace/escape.hpp"
#include "host/trace/value_text.hpp"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace host::sql {

namespace {

using trace::kCodeOf;
using tracer::Unit;

using Time = std::optional<std::int64_t>;

Cell cell(const Time& time) {
    return Cell::of(time);
}

Time difference(const Time& begin, const Time& end) {
    return begin && end ? std::optional(*end - *begin) : std::nullopt;
}

// A time of which the event carries the low 32 bits of the ticks: the one nearest to its stamp.
Time nearest(const trace::Event& event, std::uint32_t low, std::uint32_t khz) {
    if (!event.timed || khz == 0) {
        return std::nullopt;
    }
    const auto distance = static_cast<std::int32_t>(low - static_cast<std::uint32_t>(event.ticks.value));
    const std::uint64_t length =
        distance < 0 ? 0 - static_cast<std::uint64_t>(std::int64_t{distance}) : static_cast<std::uint64_t>(distance);
    const auto time_ns = static_cast<std::int64_t>(lib::TickRate{khz}.to_nanoseconds({length}).value);
    return distance < 0 ? event.time_ns - time_ns : event.time_ns + time_ns;
}

} // namespace

ScheduleRows::Task& ScheduleRows::task(const trace::Event& event, std::uint16_t context) {
    Task& found = m_tasks[context];
    if (found.name.empty()) {
        found.name = trace::name_or_number(*event.names, Unit::context, context);
    }
    return found;
}

void ScheduleRows::end_interval(std::uint16_t context, Task& of, Time now, std::string_view reason) {
    if (of.state == State::none) {
        return;
    }
    constexpr std::array<std::string_view, 4> kStates = {"", "running", "ready", "blocked"};
    const std::array cells = {Cell(std::string_view(of.name)),
                              Cell(context),
                              Cell(of.cpu),
                              Cell(kStates[static_cast<std::size_t>(of.state)]),
                              cell(of.since),
                              cell(now),
                              cell(difference(of.since, now)),
                              Cell::named(reason)};
    m_sink(Table::intervals, cells);
    of.state = State::none;
}

void ScheduleRows::end_job(std::uint16_t context, Task& of, Time now, std::string_view outcome) {
    if (!of.job) {
        return;
    }
    const Job job = *std::exchange(of.job, std::nullopt);
    const bool late = now && job.deadline && *now > *job.deadline;
    const std::array cells = {Cell(std::string_view(of.name)),
                              Cell(context),
                              Cell(job.number),
                              cell(job.release),
                              cell(job.start),
                              cell(now),
                              cell(job.deadline),
                              cell(difference(job.release, now)),
                              Cell(job.missed || late ? 1 : 0),
                              Cell(outcome)};
    m_sink(Table::jobs, cells);
}

// A running task stays on the processor until the switch; then it is in state `next`.
void ScheduleRows::leave(const trace::Event& event, Time now, State next, std::string reason) {
    Task& of = task(event, event.par1);
    if (of.state == State::running) {
        of.next = next;
        of.next_reason = std::move(reason);
        return;
    }
    end_interval(event.par1, of, now, of.reason);
    of.state = next;
    of.since = now;
    of.reason = std::move(reason);
}

void ScheduleRows::make_ready(const trace::Event& event, Time now, std::string reason) {
    Task& of = task(event, event.par1);
    if (of.state == State::running) {
        of.next = State::ready;
        of.next_reason = "preempted";
    } else if (of.state != State::ready) {
        end_interval(event.par1, of, now, of.reason);
        of.state = State::ready;
        of.since = now;
        of.reason = std::move(reason);
    }
}

void ScheduleRows::switch_to(const trace::Event& event, Time now) {
    Cpu& cpu = m_cpus[event.cpu];
    if (cpu.running == event.par1) {
        return;
    }
    if (cpu.running) {
        Task& old = task(event, *cpu.running);
        if (old.state == State::running && old.cpu == event.cpu) {
            end_interval(*cpu.running, old, now, old.next_reason);
            old.state = old.next;
            old.since = now;
            old.reason = old.next_reason;
        }
    }
    Task& chosen = task(event, event.par1);
    end_interval(event.par1, chosen, now, chosen.reason);
    chosen.state = State::running;
    chosen.since = now;
    chosen.cpu = event.cpu;
    chosen.next = State::ready;
    chosen.next_reason = "preempted";
    cpu.running = event.par1;
}

void ScheduleRows::lose(const trace::Event& event, Cpu& cpu, Time now) {
    const Time begin = cpu.blackout ? cpu.blackout : cpu.last;
    for (auto& [context, of] : m_tasks) {
        end_interval(context, of, cpu.last ? cpu.last : now, "records lost");
        end_job(context, of, std::nullopt, "lost");
    }
    cpu.handlers.clear();
    cpu.running.reset();
    cpu.blackout.reset();
    const std::array cells = {Cell(event.cpu), cell(begin), cell(now), Cell(event.par2)};
    m_sink(Table::losses, cells);
}

void ScheduleRows::begin_handler(const trace::Event& event, Cpu& cpu, Time now) {
    if (cpu.handlers.size() < kDepthMax) {
        const std::string_view name = event.names->find(Unit::vector, event.par1);
        cpu.handlers.push_back({.vector = event.par1,
                                .name = trace::escaped(name),
                                .task = cpu.running ? task(event, *cpu.running).name : std::string(),
                                .begin = now});
    }
}

void ScheduleRows::end_handler(std::uint16_t cpu_number, Cpu& cpu, Time now) {
    const Handler& handler = cpu.handlers.back();
    const std::array cells = {
        Cell(handler.vector),      Cell::named(handler.name), Cell(cpu_number), Cell::named(handler.task),
        Cell(cpu.handlers.size()), cell(handler.begin),       cell(now),        cell(difference(handler.begin, now))};
    m_sink(Table::interrupts, cells);
    cpu.handlers.pop_back();
}

void ScheduleRows::add(const trace::Event& event, std::uint32_t khz) {
    if (event.metadata || !event.is_sound() || event.row == nullptr) {
        return;
    }
    const Time now = event.timed ? std::optional(event.time_ns) : std::nullopt;
    Cpu& cpu = m_cpus[event.cpu];
    switch (event.code) {
    case kCodeOf<"blackout_start">:
        cpu.blackout = now;
        break;
    case kCodeOf<"blackout_end">:
        lose(event, cpu, now);
        break;
    case kCodeOf<"interrupt_start">:
        begin_handler(event, cpu, now);
        break;
    case kCodeOf<"interrupt_end">:
        // An end without its start came from before the trace.
        if (!cpu.handlers.empty() && cpu.handlers.back().vector == event.par1) {
            end_handler(event.cpu, cpu, now);
        }
        break;
    case kCodeOf<"context_switch">:
        switch_to(event, now);
        break;
    default:
        add_task(event, now, khz);
        break;
    }
    cpu.last = now;
}

void ScheduleRows::add_task(const trace::Event& event, Time now, std::uint32_t khz) {
    const std::uint16_t context = event.par1;
    switch (event.code) {
    case kCodeOf<"job_release">: {
        Task& of = task(event, context);
        end_job(context, of, now, "replaced");
        of.job = Job{.number = ++of.jobs, .release = nearest(event, event.par2, khz)};
        make_ready(event, now, "released");
        break;
    }
    case kCodeOf<"job_deadline">:
        if (Task& of = task(event, context); of.job) {
            of.job->deadline = nearest(event, event.par2, khz);
        }
        break;
    case kCodeOf<"task_begin_cycle">:
        if (Task& of = task(event, context); of.job && !of.job->start) {
            of.job->start = now;
        }
        break;
    case kCodeOf<"task_deadline_miss">:
        if (Task& of = task(event, context); of.job) {
            of.job->missed = true;
        }
        break;
    case kCodeOf<"task_end_cycle">:
        end_job(context, task(event, context), now, "completed");
        leave(event, now, State::none, "completed");
        break;
    case kCodeOf<"job_abort">:
        end_job(context, task(event, context), now, "aborted");
        leave(event, now, State::none, "aborted");
        break;
    case kCodeOf<"task_end">:
        end_job(context, task(event, context), now, "ended");
        leave(event, now, State::none, "ended");
        break;
    case kCodeOf<"task_create">:
        m_tasks[context] = {}; // the context may have been another task's
        break;
    case kCodeOf<"task_sleep">:
    case kCodeOf<"task_disable">:
        leave(event, now, State::none, "sleeps");
        break;
    case kCodeOf<"slice_end">:
        if (Task& of = task(event, context); of.state == State::running && of.next == State::ready) {
            of.next_reason = "slice used up";
        }
        break;
    case kCodeOf<"task_block">:
        leave(event, now, State::blocked, trace::wait_text(*event.names, event.par2));
        break;
    case kCodeOf<"set_mutex_block">:
        leave(event, now, State::blocked, "mutex " + trace::name_or_number(*event.names, Unit::mutex, event.par2));
        break;
    case kCodeOf<"task_unblock">:
        make_ready(event, now, "unblocked");
        break;
    case kCodeOf<"set_mutex_acquire">:
    case kCodeOf<"set_mutex_timeout">:
        if (task(event, context).state == State::blocked) {
            make_ready(event, now, "unblocked");
        }
        break;
    default:
        break;
    }
}

void ScheduleRows::finish() {
    Time last;
    for (auto& [number, cpu] : m_cpus) {
        last = std::max(last, cpu.last);
        while (!cpu.handlers.empty()) {
            end_handler(number, cpu, std::nullopt);
        }
    }
    for (auto& [context, of] : m_tasks) {
        end_interval(context, of, last, "end of the trace");
        end_job(context, of, std::nullopt, "unfinished");
    }
}

} // namespace host::sql
