// SPDX-License-Identifier: MIT
// Relaxation, the rules of each chunk, and the rules about interrupts and scheduling, gaps, mutexes and jobs.
#include "host/analyse/structure_check.hpp"

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/filters.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace host::analyse {

using trace::kCodeOf;
using tracer::Family;

namespace {

constexpr const auto& kBeginsStretch = trace::kAnyOf<"trace_start", "trace_stop", "blackout_start", "blackout_end">;

} // namespace

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

void StructureCheck::relax(Families families, std::string reason) {
    if ((families & ~m_relaxed).any()) {
        m_relaxed |= families;
        m_relaxations.push_back(std::move(reason));
    }
}

void StructureCheck::begin_stretch(std::uint16_t cpu) {
    m_cpus.erase(cpu);
    // Tasks and mutexes belong to no processor: what another processor recorded of them may now be outdated, too.
    m_mutexes.clear();
    m_in_job.clear();
}

void StructureCheck::begin_chunk(const trace::Event& event, const trace::TraceFacts& facts) {
    const trace::ChunkReport& chunk = facts.chunks[event.source];
    if (!chunk.described) {
        relax(~Families(),
              fmt::format("{} has no header: losses are unknown, so only stamps and counts are checked", chunk.file));
        return;
    }
    const tracer::ChunkBegin& description = chunk.description;
    if (chunk.losses_unplaced) {
        relax(~Families(), fmt::format("{} was converted from a trace that lost records, and does not say where: only "
                                       "stamps and counts are checked",
                                       chunk.file));
    }
    if (description.dropped != 0) {
        relax(~Families(), fmt::format("{} records were dropped on cpu {}: pairs and order are not checked",
                                       description.dropped, description.cpu));
    }
    if (description.overwritten != 0) {
        m_relaxations.push_back(fmt::format("chunk {} starts in the middle ({} records overwritten): what is open "
                                            "there has an unknown start",
                                            description.chunk, description.overwritten));
        m_has_jobs = false;
        m_losses[description.cpu].open = false; // its end may have been overwritten
        begin_stretch(description.cpu);
    }
}

void StructureCheck::begin_after_hole(const trace::Event& event, const trace::TraceFacts& facts) {
    const trace::ChunkReport& chunk = facts.chunks[event.source];
    std::string reason =
        fmt::format("{}: what is open there has an unknown end",
                    chunk.damaged ? fmt::format("the checksum of {} is wrong, or records of it are missing", chunk.file)
                                  : fmt::format("records are missing in {} or before it", chunk.file));
    if (std::ranges::find(m_relaxations, reason) == m_relaxations.end()) {
        m_relaxations.push_back(std::move(reason));
    }
    m_has_jobs = false;
    m_losses[event.cpu].open = false; // its end may be missing
    begin_stretch(event.cpu);
}

void StructureCheck::relax_filtered(const trace::Event& event) {
    Families families = only(static_cast<Family>(event.code & 0x0F));
    if (trace::Filters::changes(event, trace::Filters::kParts)) {
        families |= only(Family::interrupt); // the schedule forgets which handlers are open
    }
    relax(families, fmt::format("{} was used: {} are not checked from there on", event.row->name,
                                families.count() == 1 ? "the rules of its family"
                                                      : "the rules of its family and the pairs of handlers"));
}

// Handles what the event shows of its chunk. Returns whether the event must be judged.
bool StructureCheck::begin(const trace::Event& event, const trace::TraceFacts& facts) {
    if (!event.is_sound()) {
        relax(~Families(), "a damaged event: pairs and order are not checked from there on");
        return false;
    }
    if (event.metadata) {
        return false;
    }
    ++m_events;
    if (event.source >= m_last_stamps.size()) {
        m_last_stamps.resize(std::size_t{event.source} + 1);
    }
    std::optional<lib::Ticks>& stamp = m_last_stamps[event.source];
    if (!stamp) {
        begin_chunk(event, facts);
    } else if (event.ticks < *stamp && !event.doubtful) {
        violate(Rule::stamps_rise, event, std::nullopt,
                fmt::format("the stamp falls from {} to {} ticks", stamp->value, event.ticks.value));
    }
    stamp = event.ticks;
    if (event.after_hole) {
        begin_after_hole(event, facts);
    } else if (event.doubtful) {
        begin_stretch(event.cpu);
    }
    return event.row != nullptr && !trace::is_foreign(event);
}

void StructureCheck::check_interrupt(const trace::Event& event, const schedule::Schedule::Processor& here) {
    Cpu& cpu = m_cpus[event.cpu];
    if (event.code == kCodeOf<"interrupt_start"> || event.code == kCodeOf<"interrupt_end">) {
        if (event.code == kCodeOf<"interrupt_start"> && here.depth == schedule::Schedule::Processor::kNestedMax) {
            relax(only(Family::interrupt), "handlers nest too deeply: their pairs are not checked from there on");
        }
        const bool is_news = std::ranges::find(cpu.vectors_seen, event.par1) == cpu.vectors_seen.end();
        if (is_news) {
            cpu.vectors_seen.push_back(event.par1);
        }
        const auto innermost = here.depth != 0 ? std::optional(here.vectors[here.depth - 1]) : std::nullopt;
        if (event.code == kCodeOf<"interrupt_end"> && innermost != event.par1 && (innermost || !is_news) &&
            strict(Family::interrupt)) {
            violate(Rule::interrupt_pairs, event, std::nullopt,
                    innermost
                        ? fmt::format("handler of vector {} ends inside that of vector {}", event.par1, *innermost)
                        : fmt::format("handler of vector {} ends, but none is open", event.par1));
        }
    } else if (event.code == kCodeOf<"timer_wakeup_start">) {
        if (std::exchange(cpu.timer_open, true) == true && strict(Family::timer)) {
            violate(Rule::timer_pairs, event, std::nullopt, "a timer wakeup starts inside another");
        }
    } else if (event.code == kCodeOf<"timer_wakeup_end">) {
        if (std::exchange(cpu.timer_open, false) == false && strict(Family::timer)) {
            violate(Rule::timer_pairs, event, event.par1, "a timer wakeup ends, but none is open");
        }
    }
}

void StructureCheck::check_schedule(const trace::Event& event, const schedule::Schedule::Processor& here) {
    const auto is_other = [&](std::uint32_t context) {
        return context != schedule::kUnknownContext && context != event.par1;
    };
    if (event.code == kCodeOf<"task_dispatch">) {
        if (is_other(here.chosen) && strict(Family::task)) {
            violate(Rule::dispatch_follows_schedule, event, event.par1,
                    fmt::format("context {} is dispatched, but the latest schedule chose context {}", event.par1,
                                here.chosen));
        }
    } else if (event.code == kCodeOf<"context_switch">) {
        if (is_other(here.dispatched) && strict(Family::task) && strict(Family::attribute)) {
            violate(Rule::one_runs, event, event.par1,
                    fmt::format("the processor switches to context {}, but context {} was dispatched", event.par1,
                                here.dispatched));
        }
    } else if (is_other(here.switched_to) && strict(Family::attribute) && strict(Family::mutex)) {
        violate(
            Rule::one_runs, event, event.par1,
            fmt::format("context {} acts on a mutex or semaphore while context {} runs", event.par1, here.switched_to));
    }
}

void StructureCheck::judge(const trace::Event& event, const schedule::Schedule::Processor& here) {
    switch (event.code) {
    case kCodeOf<"blackout_start">:
    case kCodeOf<"blackout_end">:
        check_blackout(event);
        break;
    case kCodeOf<"interrupt_start">:
    case kCodeOf<"interrupt_end">:
    case kCodeOf<"timer_wakeup_start">:
    case kCodeOf<"timer_wakeup_end">:
        check_interrupt(event, here);
        break;
    case kCodeOf<"task_dispatch">:
    case kCodeOf<"context_switch">:
    case kCodeOf<"set_mutex_wait">:
        check_schedule(event, here);
        break;
    case kCodeOf<"set_mutex_lock">:
        check_schedule(event, here);
        check_lock(event);
        break;
    case kCodeOf<"set_mutex_unlock">:
        check_schedule(event, here);
        check_unlock(event);
        break;
    case kCodeOf<"set_mutex_create">:
        m_mutexes[event.par2] = Mutex{.attempts = {}, .seen = {}, .owner = {}, .created = true};
        break;
    case kCodeOf<"set_mutex_acquire">:
        m_mutexes[event.par2].owner = event.par1;
        break;
    case kCodeOf<"set_mutex_timeout">:
    case kCodeOf<"set_mutex_owner_died">:
        end_attempt(m_mutexes[event.par2], event.par1);
        break;
    case kCodeOf<"task_begin_cycle">:
    case kCodeOf<"task_end_cycle">:
    case kCodeOf<"job_abort">:
    case kCodeOf<"task_sleep">:
    case kCodeOf<"task_disable">:
    case kCodeOf<"task_create">:
    case kCodeOf<"task_end">:
        check_cycle(event);
        break;
    default:
        break;
    }
}

void StructureCheck::add(const trace::Event& event, const trace::TraceFacts& facts,
                         const schedule::Schedule& schedule) {
    if (!begin(event, facts)) {
        return;
    }
    if (trace::kSetsFilter[event.code]) {
        relax_filtered(event);
        return;
    }
    m_has_jobs = m_has_jobs || event.row->family() == Family::job;
    judge(event, event.after_hole || event.doubtful ? schedule::Schedule::Processor{} : schedule.processor(event.cpu));
    if (kBeginsStretch[event.code]) {
        m_has_jobs = m_has_jobs && event.code == kCodeOf<"trace_start"> && event.par1 == 0;
        begin_stretch(event.cpu);
    }
}

void StructureCheck::finish(const trace::TraceFacts& facts) {
    check_losses(facts);
    if (facts.misplaced != 0) {
        violate(Violation{
            .rule = Rule::foreign_order,
            .event = nullptr,
            .file = facts.chunks.front().file,
            .task = {},
            .text = fmt::format("{} records are not where the format has them (W-ORDER, W-NESTING)", facts.misplaced)});
    }
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

// The rule about gaps: on each processor blackout_start and blackout_end alternate, each end reports how many records
// were lost, and together they report all losses that the export counts. A blackout may still be open at the end: then
// the rest was lost after the last record. A chunk without an emergency area has no room for its blackout_start, so an
// end alone only relaxes the rule; what was overwritten may have been a start or an end.

void StructureCheck::check_blackout(const trace::Event& event) {
    Losses& losses = m_losses[event.cpu];
    if (event.code == kCodeOf<"blackout_start">) {
        if (losses.open) {
            violate(Rule::blackouts, event, std::nullopt, "a blackout starts inside another: an end is missing");
        }
        losses.open = true;
    } else if (event.code == kCodeOf<"blackout_end">) {
        if (!losses.open) {
            m_relaxations.push_back(fmt::format("{} records were lost before {} ticks without a blackout_start: no "
                                                "emergency area had room for it",
                                                event.par2, event.ticks.value));
        }
        losses.open = false;
        losses.reported += event.par2;
        losses.saturated = losses.saturated || event.par2 == std::numeric_limits<std::uint32_t>::max();
    }
}

void StructureCheck::check_losses(const trace::TraceFacts& facts) {
    const auto fault = [&](std::string text) {
        violate(Violation{.rule = Rule::blackouts, .event = nullptr, .file = {}, .task = {}, .text = std::move(text)});
    };
    const bool has_holes = std::ranges::any_of(facts.chunks, [](const trace::ChunkReport& chunk) {
        return !chunk.described || chunk.damaged ||
               (chunk.description.overwritten | chunk.missing | chunk.unused | chunk.skipped | chunk.gaps) != 0;
    });
    std::uint64_t reported = 0;
    bool open = false;
    bool saturated = false;
    for (const auto& [cpu, losses] : m_losses) {
        reported += losses.reported;
        open = open || losses.open;
        saturated = saturated || losses.saturated;
    }
    if (!facts.export_end || facts.export_end->chunks != facts.chunks.size() || saturated) {
        return; // there is nothing to compare with, or not all of it
    }
    const std::uint64_t dropped = facts.export_end->dropped;
    if (reported > dropped) {
        fault(fmt::format("blackouts report {} lost records, the export counts {}", reported, dropped));
    } else if (has_holes || facts.export_end->overwritten != 0) {
        return; // a blackout_end may be missing
    } else if (!open && reported != dropped) {
        fault(fmt::format("{} records were lost, but blackouts report only {}", dropped, reported));
    }
}

// set_mutex_lock records an attempt. On a free mutex the attempt succeeds at once, unless a ceiling forbids it; on a
// held one the task waits, and the protocol selects the waiter that gets it next. set_mutex_acquire records which one;
// in a trace without it the owner is only known if a single attempt is left. If a mutex existed before the stretch,
// each task may have one attempt that was not seen.
void StructureCheck::check_lock(const trace::Event& event) {
    Mutex& mutex = m_mutexes[event.par2];
    if (mutex.attempts.empty() && mutex.created) {
        mutex.owner = event.par1;
    }
    mutex.attempts.push_back(event.par1);
    mutex.see(event.par1);
}

void StructureCheck::check_unlock(const trace::Event& event) {
    Mutex& mutex = m_mutexes[event.par2];
    const bool all_seen = !mutex.see(event.par1) || mutex.created;
    if (strict(Family::mutex) && mutex.owner && *mutex.owner != event.par1) {
        violate(
            Rule::lock_pairs, event, event.par1,
            fmt::format("context {} unlocks mutex {}, which context {} owns", event.par1, event.par2, *mutex.owner));
    } else if (std::ranges::find(mutex.attempts, event.par1) != mutex.attempts.end()) {
        end_attempt(mutex, event.par1);
    } else if (all_seen && strict(Family::mutex)) {
        violate(Rule::lock_pairs, event, event.par1,
                fmt::format("context {} unlocks mutex {} without having locked it", event.par1, event.par2));
    }
}

// A task ends its attempt when it unlocks, gives up or ends. A task that gave up never owned the mutex, even if it
// seemed to.
void StructureCheck::end_attempt(Mutex& mutex, std::uint16_t context) {
    const auto attempt = std::ranges::find(mutex.attempts, context);
    if (attempt != mutex.attempts.end()) {
        mutex.attempts.erase(attempt);
    }
    if (!mutex.owner || *mutex.owner == context) {
        const bool one_left = mutex.created && mutex.attempts.size() == 1;
        mutex.owner = one_left ? std::optional(mutex.attempts.front()) : std::nullopt;
    }
}

void StructureCheck::check_cycle(const trace::Event& event) {
    const std::uint16_t context = event.par1;
    const bool begins = event.code == kCodeOf<"task_begin_cycle">;
    if (begins || event.code == kCodeOf<"task_end_cycle">) {
        // An aborted job has an end whether or not it has begun.
        const bool all_seen = strict(Family::task) && (begins || (strict(Family::job) && m_has_jobs));
        if (std::exchange(m_in_job[context], begins) == begins && all_seen) {
            violate(Rule::cycle_pairs, event, context,
                    begins ? fmt::format("a job of context {} begins inside another", context)
                           : fmt::format("a job of context {} ends, but none has begun", context));
        }
    } else if (event.code == kCodeOf<"job_abort">) {
        m_in_job[context] = true;
    } else if (event.code == kCodeOf<"task_sleep"> || event.code == kCodeOf<"task_disable">) {
        if (std::optional<bool>& in_job = m_in_job[context]) {
            in_job = false; // a job may end when its task suspends itself
        }
    } else if (event.code == kCodeOf<"task_create">) {
        forget_task(context);
        m_in_job[context] = false;
    } else if (event.code == kCodeOf<"task_end">) {
        forget_task(context);
    }
}

void StructureCheck::forget_task(std::uint16_t context) {
    m_in_job[context].reset();
    for (auto& [id, mutex] : m_mutexes) {
        std::erase(mutex.attempts, context);
        if (mutex.owner == context) {
            mutex.owner.reset();
            mutex.created = false;
        }
    }
}

} // namespace host::analyse
