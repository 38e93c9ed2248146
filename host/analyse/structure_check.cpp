// SPDX-License-Identifier: MIT
// Relaxation, per-chunk rules and the rules about interrupts and scheduling. Those about mutexes and jobs are in
// structure_check_tasks.cpp.
#include "host/analyse/structure_check.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace host::analyse {

using trace::kCodeOf;
using tracer::Family;

StructureCheck::StructureCheck(Sink sink)
    : m_sink(std::move(sink)) {}

std::uint64_t StructureCheck::violations() const {
    return std::accumulate(m_violations.begin(), m_violations.end(), std::uint64_t{0});
}

void StructureCheck::violate(const Violation& violation) {
    ++m_violations[static_cast<std::size_t>(violation.rule)];
    m_sink(violation);
}

void StructureCheck::violate(Rule rule, const trace::Event& event, std::optional<std::uint16_t> task,
                             std::string text) {
    violate(Violation{.rule = rule, .event = &event, .file = {}, .task = task, .text = std::move(text)});
}

void StructureCheck::relax(Family family, std::string why) {
    bool& relaxed = m_relaxed[static_cast<std::size_t>(family)];
    if (!relaxed) {
        relaxed = true;
        m_relaxations.push_back(std::move(why));
    }
}

void StructureCheck::relax_all(const std::string& why) {
    const bool news = std::ranges::find(m_relaxed, false) != m_relaxed.end();
    m_relaxed.fill(true);
    if (news) {
        m_relaxations.push_back(why);
    }
}

void StructureCheck::begin_stretch(std::uint16_t cpu) {
    m_cpus[cpu] = Cpu{};
    // Tasks and mutexes belong to no CPU: what another one saw of them may now be out of date, too.
    m_mutexes.clear();
    m_jobs.clear();
}

void StructureCheck::begin_chunk(const trace::Event& event, const trace::TraceFacts& facts) {
    const trace::ChunkReport& chunk = facts.chunks[event.source];
    if (!chunk.described) {
        relax_all(
            fmt::format("{} has no header: losses are unknown, so only stamps and counts are checked", chunk.file));
        return;
    }
    const tracer::ChunkBegin& description = chunk.description;
    if (description.dropped != 0) {
        relax_all(fmt::format("{} records were dropped on cpu {}: pairs and order are not checked", description.dropped,
                              description.cpu));
    }
    if (description.overwritten != 0) {
        m_relaxations.push_back(fmt::format("chunk {} starts in the middle ({} records overwritten): what is open "
                                            "there has an unknown start",
                                            description.chunk, description.overwritten));
        begin_stretch(description.cpu);
    }
}

bool StructureCheck::is_filter(const trace::Event& event) const {
    return event.row != nullptr && event.row->family() == static_cast<Family>(event.code & 0x0F) &&
           (event.code & 0xF0) == 0xF0 && event.code != kCodeOf<"next_chunk"> && event.row->name.starts_with("filter_");
}

void StructureCheck::add(const trace::Event& event, const trace::TraceFacts& facts) {
    if (!event.is_sound()) {
        relax_all("a damaged event: pairs and order are not checked from there on");
        return;
    }
    if (event.metadata) {
        return;
    }
    ++m_events;
    while (m_chunks.size() <= event.source) {
        m_chunks.emplace_back();
    }
    check_stamp(event);
    if (!m_chunks[event.source].last_stamp) {
        begin_chunk(event, facts);
    }
    m_chunks[event.source].last_stamp = event.ticks;
    if (event.row == nullptr) {
        return;
    }
    if (is_filter(event)) {
        relax(static_cast<Family>(event.code & 0x0F),
              fmt::format("{} was used: the rules of its family are not checked from there on", event.row->name));
        return;
    }
    switch (event.row->family()) {
    case Family::general:
        check_blackout(event);
        if (event.code == kCodeOf<"trace_start"> || event.code == kCodeOf<"trace_stop"> ||
            event.code == kCodeOf<"blackout_start"> || event.code == kCodeOf<"blackout_end">) {
            begin_stretch(event.cpu);
        }
        break;
    case Family::interrupt:
    case Family::timer:
        check_interrupt(event);
        break;
    case Family::task:
        check_schedule(event);
        check_cycle(event);
        break;
    case Family::attribute:
        check_schedule(event);
        break;
    case Family::mutex:
        check_mutex(event);
        break;
    case Family::ipoint:
    case Family::cpu:
    case Family::signal:
    case Family::server:
    case Family::user:
    case Family::data:
    case Family::metadata:
    case Family::job:
    case Family::typed:
    case Family::filter:
        break;
    }
}

void StructureCheck::check_stamp(const trace::Event& event) {
    const auto& previous = m_chunks[event.source].last_stamp;
    if (previous && event.ticks < *previous) {
        violate(Rule::stamps_rise, event, std::nullopt,
                fmt::format("the stamp falls from {} to {} ticks", previous->value, event.ticks.value));
    }
}

void StructureCheck::check_interrupt(const trace::Event& event) {
    Cpu& cpu = m_cpus[event.cpu];
    if (event.code == kCodeOf<"interrupt_start">) {
        cpu.handlers.push_back(event.par1);
        cpu.vectors_seen.insert(event.par1);
    } else if (event.code == kCodeOf<"interrupt_end">) {
        if (!cpu.handlers.empty() && cpu.handlers.back() == event.par1) {
            cpu.handlers.pop_back();
        } else if (strict(Family::interrupt) && (cpu.vectors_seen.contains(event.par1) || !cpu.handlers.empty())) {
            violate(Rule::interrupt_pairs, event, std::nullopt,
                    cpu.handlers.empty() ? fmt::format("handler of vector {} ends, but none is open", event.par1)
                                         : fmt::format("handler of vector {} ends inside that of vector {}", event.par1,
                                                       cpu.handlers.back()));
        }
        cpu.vectors_seen.insert(event.par1);
    } else if (event.code == kCodeOf<"timer_wakeup_start">) {
        if (cpu.timer_open && strict(Family::timer)) {
            violate(Rule::timer_pairs, event, std::nullopt, "a timer wakeup starts inside another");
        }
        cpu.timer_open = true;
        cpu.timer_seen = true;
    } else if (event.code == kCodeOf<"timer_wakeup_end">) {
        if (!cpu.timer_open && cpu.timer_seen && strict(Family::timer)) {
            violate(Rule::timer_pairs, event, event.par1, "a timer wakeup ends, but none is open");
        }
        cpu.timer_open = false;
        cpu.timer_seen = true;
    }
}

void StructureCheck::check_schedule(const trace::Event& event) {
    Cpu& cpu = m_cpus[event.cpu];
    if (event.code == kCodeOf<"task_schedule">) {
        cpu.scheduled = event.par1;
    } else if (event.code == kCodeOf<"task_dispatch">) {
        if (strict(Family::task) && cpu.scheduled && *cpu.scheduled != event.par1) {
            violate(Rule::dispatch_follows_schedule, event, event.par1,
                    fmt::format("context {} is dispatched, but the latest schedule chose context {}", event.par1,
                                *cpu.scheduled));
        }
        cpu.dispatched = event.par1;
    } else if (event.code == kCodeOf<"context_switch">) {
        if (strict(Family::task) && strict(Family::attribute) && cpu.dispatched && *cpu.dispatched != event.par1) {
            violate(Rule::one_runs, event, event.par1,
                    fmt::format("the processor switches to context {}, but context {} was dispatched", event.par1,
                                *cpu.dispatched));
        }
        cpu.running = event.par1;
    }
}

void StructureCheck::finish(const trace::TraceFacts& facts) {
    check_losses(facts);
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (!chunk.described) {
            continue;
        }
        const auto fault = [&](std::string text) {
            violate(Violation{
                .rule = Rule::counts, .event = nullptr, .file = chunk.file, .task = {}, .text = std::move(text)});
        };
        if (chunk.missing != 0 || chunk.extra != 0) {
            fault(fmt::format("the chunk announces {} records and holds {}", chunk.description.records, chunk.records));
        }
        if (chunk.numevents && *chunk.numevents != chunk.description.records) {
            fault(fmt::format("numevents says {} records, chunk_begin says {}", *chunk.numevents,
                              chunk.description.records));
        }
        if (chunk.unused != 0) {
            fault(fmt::format("{} empty slots", chunk.unused));
        }
    }
}

} // namespace host::analyse
