// SPDX-License-Identifier: MIT
// Gaps, and the order in which theories judge an event: all of them use the model before the event changes it.
#include "host/analyse/oracle/oracle.hpp"

#include "host/analyse/oracle/model.hpp"

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <bit>

namespace host::analyse::oracle {

using trace::kCodeOf;
using tracer::Family;

namespace {

constexpr const auto& kLosses = trace::kAnyOf<"blackout_start", "blackout_end">;

// At these events the work of a task begins or ends, or reservations change or are judged.
constexpr const auto& kConcernsServers = trace::kAnyOf<"task_schedule", "task_end", "deadline_change", "task_block",
                                                       "job_release", "task_end_cycle", "task_disable">;

// A clock that counts instructions advances by a power of two ticks for each. A record takes 16 to 31 instructions, and
// the trace states how many ticks it took.
std::uint64_t ticks_per_instruction(const trace::TraceFacts& facts) {
    constexpr std::uint32_t kRecordInstructions = 16;
    const std::uint32_t ticks = facts.cost ? facts.cost->plain_record_ticks_x256() / 256 / kRecordInstructions : 0;
    return std::max(std::bit_floor(ticks), 1U);
}

// Returns the ticks by which a stamp of the chunk may be too early: the bits that its layout cuts. If a compact trace
// was converted, its records are plain again, but its cost still names the layout.
std::uint64_t granule_of(const trace::ChunkReport& chunk, const trace::TraceFacts& facts) {
    const bool was_compact = facts.cost && facts.cost->choice != tracer::LayoutChoice::plain;
    const std::size_t layout = chunk.compact() ? chunk.description.layout
                               : was_compact   ? facts.cost->layout
                                               : tracer::compact::kLayouts;
    return layout < tracer::compact::kLayouts ? (std::uint64_t{1} << tracer::compact::kLayoutRows[layout].lsb) - 1 : 0;
}

} // namespace

Oracle::Oracle(Verdicts::Sink sink, std::optional<std::uint64_t> tolerance, std::optional<Order> order)
    : m_verdicts(std::move(sink))
    , m_tolerance(tolerance) {
    m_timing.tolerance = tolerance.value_or(kToleranceTicks);
    m_any_kernel.set_order(order);
    m_has_order = order.has_value();
}

void Oracle::forget() {
    m_any_kernel.forget();
    if (m_forgot && m_forgot_with == m_model.names().version()) {
        return;
    }
    m_forgot = true;
    m_forgot_with = m_model.names().version();
    m_verdicts.doubt();
    m_steps.forget();
    m_records.forget();
    m_switches.clear();
    m_handlers = 0;
    m_timing.handler_began = m_timing.handler_ended = 0;
    m_model.forget();
    m_meter.forget();
    m_jobs.forget();
    m_mutexes.forget();
    m_wakeups.forget();
    m_round_robin.forget();
    m_cbs.forget();
    m_grub.forget();
    m_fixed_servers.forget();
}

void Oracle::begin_chunk(const trace::Event& event, const trace::TraceFacts& facts) {
    const trace::ChunkReport& chunk = facts.chunks[event.source];
    m_model.set_rate(facts.clock.khz);
    if (!chunk.described) {
        m_verdicts.lose_all();
        m_verdicts.relax(
            fmt::format("{} has no header: tasks have neither levels nor parameters, nothing is decided", chunk.file));
        return;
    }
    if (chunk.losses_unplaced) {
        m_verdicts.lose_all();
        m_verdicts.relax(fmt::format("{} was converted from a trace that lost records, and does not say where: nothing "
                                     "is decided",
                                     chunk.file));
        return;
    }
    if (facts.build) {
        m_verdicts.set_hooks(facts.build->hooks);
    }
    m_timing.granule = granule_of(chunk, facts);
    m_strict = m_timing.granule == 0 && facts.clock.mode == tracer::ClockMode::icount;
    m_timing.judged = m_tolerance || facts.clock.mode == tracer::ClockMode::icount;
    if (!m_timing.judged) {
        m_verdicts.relax("the clock is not one that counts instructions: a stamp may be any time later than the "
                         "kernel's reading of the clock, so what stamps measure is not judged (--tolerance does)");
    }
    if (facts.clock.khz == 0) {
        m_verdicts.relax("the rate of the clock is not known: times are not compared");
    }
    if (chunk.description.overwritten != 0) {
        m_verdicts.relax(fmt::format("chunk {} starts in the middle ({} records overwritten): states are unknown until "
                                     "a record shows them",
                                     chunk.description.chunk, chunk.description.overwritten));
        forget();
    }
}

void Oracle::give_up(std::string_view why) {
    m_verdicts.lose_all();
    m_verdicts.relax(std::string(why));
}

void Oracle::begin_after_hole(const trace::ChunkReport& chunk) {
    m_verdicts.relax(
        chunk.damaged
            ? fmt::format("the checksum of {} is wrong, or records of it are missing: nothing is decided in it",
                          chunk.file)
            : fmt::format("records are missing in {} or before it: states are unknown until a record shows them",
                          chunk.file));
    forget();
}

void Oracle::lose_filtered(const trace::Event& event) {
    const auto family = static_cast<Family>(event.code & 0x0F);
    m_filters.take(event);
    m_verdicts.lose(family);
    if (family == Family::interrupt || family == Family::timer) {
        m_scheduling.lose_handlers();
    }
    m_verdicts.relax(
        fmt::format("{} was used: records of its family are not relied on from there on", event.row->name));
}

void Oracle::begin_gap(const trace::Event& event) {
    if (kLosses[event.code]) {
        m_verdicts.relax("records were lost (blackout): states are unknown until a record shows them");
    }
    forget();
}

void Oracle::set_tolerance(const trace::TraceFacts& facts) {
    m_strict = m_strict && !facts.compensation; // a clock that was set back stops until it has caught up
    m_without_steps = m_timing.granule + m_tolerance.value_or(kToleranceTicks * ticks_per_instruction(facts));
    m_timing.tolerance = m_without_steps + (m_tolerance ? 0 : m_steps.delay());
}

void Oracle::end_interval(const trace::Event& event) {
    const auto& running = m_model.running();
    if (running) {
        const Interval interval{running->exec, running->shadow, running->since, event.ticks.value};
        m_jobs.ran(interval);
        m_round_robin.ran(interval);
    }
}

// Passes the event to the theory if it concerns that theory.
template <typename Concerned>
void Oracle::show(Concerned& theory, const trace::Event& event) {
    if (Concerned::kConcerns[event.code]) {
        theory.event(event);
    }
}

void Oracle::judge(const trace::Event& event) {
    switch (static_cast<Family>(event.code & 0x0F)) {
    case Family::task:
    case Family::job:
    case Family::attribute:
    case Family::mutex:
        if (event.code == kCodeOf<"task_epilogue">) {
            m_meter.flush(event.ticks.value);
            end_interval(event);
        }
        show(m_wakeups, event);
        show(m_jobs, event);
        show(m_round_robin, event);
        show(m_mutexes, event);
        m_scheduling.event(event);
        if (kConcernsServers[event.code]) {
            judge_server(event);
        }
        return;
    case Family::server:
        m_scheduling.event(event);
        judge_server(event);
        return;
    case Family::interrupt:
    case Family::timer:
        m_scheduling.handler(event);
        return;
    case Family::general:
    case Family::ipoint:
    case Family::cpu:
    case Family::signal:
    case Family::user:
    case Family::data:
    case Family::metadata:
    case Family::typed:
    case Family::filter:
        return;
    }
}

void Oracle::note_handler(const trace::Event& event) {
    const std::uint64_t now = event.ticks.value;
    if (event.code == kCodeOf<"interrupt_start">) {
        m_timing.handler_began = m_handlers++ == 0 ? now : m_timing.handler_began;
    } else if (event.code == kCodeOf<"interrupt_end"> || event.code == kCodeOf<"STI">) {
        m_handlers -= m_handlers != 0 ? 1 : 0;
        m_timing.handler_ended = now;
    } else if (event.code == kCodeOf<"task_schedule">) {
        m_handlers = 0;
    }
}

// All theories judge the event before the model changes.
void Oracle::take(const trace::Event& event) {
    if (kGaps[event.code]) {
        begin_gap(event);
    }
    m_forgot = false;
    m_verdicts.saw(event.row->family());
    if (m_steps.concerns(event.code)) [[unlikely]] {
        m_steps.event(event);
        m_timing.tolerance = m_without_steps + (m_tolerance ? 0 : m_steps.delay());
    }
    note_handler(event);
    m_model.restore(event);
    m_records.event(event, m_strict);
    judge(event);
    if (Model::kConcerns[event.code]) {
        m_model.apply(event);
    }
    if (event.code == kCodeOf<"trace_start"> && m_model.whole()) {
        m_verdicts.trust();
    }
}

// Rare cases are in functions of their own, so that this function needs no large frame.
void Oracle::add(const trace::Event& event, const trace::TraceFacts& facts) {
    m_verdicts.at(event);
    if (!event.is_sound()) {
        give_up("a damaged event: nothing is decided from there on");
        return;
    }
    if (event.metadata) {
        return;
    }
    m_model.set_names(*event.names);
    m_verdicts.expect(*event.names);
    if (m_events == 0) {
        forget(); // what happened before is not known, unless the first record states that the machine has just booted
    }
    if (event.source != m_source) {
        m_source = event.source;
        if (m_chunks_begun.size() <= m_source) {
            m_chunks_begun.resize(m_source + 1);
        }
        if (!m_chunks_begun[m_source]) {
            m_chunks_begun[m_source] = true;
            begin_chunk(event, facts);
        }
    }
    const trace::ChunkReport& chunk = facts.chunks[event.source];
    if (event.after_hole) {
        begin_after_hole(chunk);
    }
    if (chunk.damaged) {
        return;
    }
    ++m_events;
    if (event.row == nullptr || trace::is_foreign(event)) {
        return;
    }
    judge_processors(event);
    if (judge_any_kernel(event, facts)) {
        return;
    }
    if (event.cpu != 0) {
        m_not_judged = "a second processor: the theories here are those of one";
        give_up(m_not_judged);
        return;
    }
    if (trace::kSetsFilter[event.code]) {
        lose_filtered(event);
        return;
    }
    m_last = event;
    set_tolerance(facts);
    take(event);
}

void Oracle::judge_server(const trace::Event& event) {
    if (event.code == kCodeOf<"task_schedule">) {
        m_grub.settle(event);
        m_fixed_servers.settle();
        return;
    }
    if (event.code == kCodeOf<"task_end">) {
        m_grub.task_ended(event.par1);
        return;
    }
    if (event.code == kCodeOf<"deadline_change">) {
        m_grub.deadline_changed(event.par1);
        return;
    }
    const bool suspended = event.code == kCodeOf<"task_block"> &&
                           tracer::wait_kind(event.par2) == lib::WaitKind::suspended; // its work is not complete
    const bool begins = event.code == kCodeOf<"job_release">;
    if (begins || event.code == kCodeOf<"task_end_cycle"> || event.code == kCodeOf<"task_disable"> ||
        (event.code == kCodeOf<"task_block"> && !suspended)) {
        const Task* const task = m_model.find(event.par1);
        const Server* const server = task != nullptr ? m_model.server_of(*task) : nullptr;
        if (server != nullptr && server->kind == Policy::grub) {
            begins ? m_grub.job_begins(*task->server) : m_grub.job_ended(*task->server, event);
        }
        return;
    }
    if (event.row->family() != Family::server) {
        return;
    }
    m_meter.flush(event.ticks.value);
    if (event.code == kCodeOf<"server_bandwidth">) {
        m_meter.set_bandwidth(event.par2);
        return;
    }
    const bool in_par1 = event.code == kCodeOf<"server_budget"> || event.code == kCodeOf<"server_deadline">;
    const auto id = static_cast<std::uint16_t>(in_par1 ? event.par1 : event.par2);
    const auto server = m_model.servers().find(id);
    if (server == m_model.servers().end()) {
        return;
    }
    judge_server_event(event, id, server->second.kind);
}

void Oracle::judge_server_event(const trace::Event& event, std::uint16_t id, Policy kind) {
    const bool dynamic = kind == Policy::cbs || kind == Policy::grub;
    const bool fixed = kind == Policy::polling || kind == Policy::deferrable;
    switch (event.code) {
    case kCodeOf<"server_active">:
        if (dynamic) {
            m_cbs.active(id, event);
        }
        if (kind == Policy::grub) {
            m_grub.active(id);
        }
        break;
    case kCodeOf<"server_replenish">:
        if (fixed) {
            m_fixed_servers.replenish(id, event);
        }
        break;
    case kCodeOf<"server_exhaust">:
        if (dynamic) {
            m_cbs.exhaust(id);
        } else if (fixed) {
            m_fixed_servers.exhaust(id);
        }
        break;
    case kCodeOf<"server_budget">:
        if (dynamic) {
            m_cbs.budget(id, recorded_budget(event));
        } else if (fixed) {
            m_fixed_servers.budget(id, recorded_budget(event));
        }
        break;
    case kCodeOf<"server_deadline">:
        if (dynamic) {
            m_cbs.deadline(id);
        } else if (fixed) {
            m_fixed_servers.deadline(id, event);
        }
        break;
    case kCodeOf<"server_reclaiming">:
        if (kind == Policy::grub) {
            m_grub.reclaiming(id, event);
        }
        break;
    case kCodeOf<"server_remove">:
        m_cbs.remove(id);
        m_grub.remove(id);
        m_fixed_servers.remove(id);
        break;
    default:
        break;
    }
}

void Oracle::finish(const trace::TraceFacts& facts) {
    if (m_last.row != nullptr) {
        m_last.names = &facts.names; // the names of the last chunk have been released with it
        m_model.set_names(facts.names);
        m_last.payload = {};
        m_verdicts.at(m_last);
        m_wakeups.finish();
    }
    if (m_timing.judged && !m_tolerance && m_steps.longest() != 0) {
        m_timing.tolerance = kToleranceTicks * ticks_per_instruction(facts) + m_steps.longest();
        m_verdicts.relax(fmt::format("tasks ran in steps, up to {} ticks between two timer interrupts: what stamps "
                                     "measure near them may differ by {} ticks (--tolerance sets another number)",
                                     m_steps.longest(), m_timing.tolerance));
    }
    if (m_records.clock_stopped()) {
        m_not_judged = "all records have the same stamp: the clock did not advance, and no time can be judged";
        m_verdicts.relax(std::string(m_not_judged));
    }
    if (m_events != 0 && !m_model.jobs_recorded() && !m_verdicts.hooks().stated()) {
        m_verdicts.relax("the trace records neither releases nor waits of tasks (an older kernel): what follows from "
                         "them is not decided");
    }
}

} // namespace host::analyse::oracle
