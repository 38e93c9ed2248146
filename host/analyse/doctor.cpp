// SPDX-License-Identifier: MIT
#include "host/analyse/doctor.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "tracer/names/metadata.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse {

using trace::kCodeOf;

namespace {

constexpr std::size_t kListed = 5;

template <typename Numbers, typename Text>
std::string list(const Numbers& numbers, Text text) {
    std::string all;
    std::size_t shown = 0;
    for (const auto& number : numbers) {
        if (shown++ == kListed) {
            return all + fmt::format(" and {} more", numbers.size() - kListed);
        }
        all += (all.empty() ? "" : ", ") + text(number);
    }
    return all;
}

std::string plain(std::uint16_t number) {
    return fmt::format("{}", number);
}

} // namespace

void Doctor::forget() {
    for (auto& [cpu, processor] : m_processors) {
        processor.handlers.clear();
        processor.context.reset();
        processor.dispatched.reset();
    }
    for (auto& [id, lock] : m_locks) {
        lock.owner.reset();
    }
}

void Doctor::take_name(const trace::Event& event) {
    if (event.code == kCodeOf<"task_name">) {
        if (const auto of = tracer::decode_payload<tracer::NameOf>(event.payload)) {
            m_names[of.value().id].emplace(of.value().name.view());
        }
    }
}

void Doctor::take_interrupt(const trace::Event& event, Processor& here) {
    Vector& vector = m_vectors[event.par1];
    if (event.code == kCodeOf<"interrupt_start">) {
        ++vector.starts;
        here.handlers.push_back(event.par1);
        return;
    }
    const auto begun = std::ranges::find(here.handlers, event.par1);
    if (begun == here.handlers.end()) {
        ++vector.unstarted;
    } else {
        here.handlers.erase(begun, here.handlers.end());
    }
}

// Only the first handler that is open may have begun before the trace.
void Doctor::take_switch(const trace::Event& event, Processor& here) {
    for (const std::uint16_t vector : here.handlers) {
        ++m_vectors[vector].unended;
    }
    here.handlers.clear();
    m_undispatched += here.dispatched != event.par1 ? 1U : 0U;
    here.dispatched.reset();
    here.context = event.par1;
    if (event.par1 != 0) {
        m_contexts.insert(event.par1);
    }
}

void Doctor::take_lock(const trace::Event& event) {
    Lock& lock = m_locks[static_cast<std::uint16_t>(event.par2)];
    if (event.code == kCodeOf<"set_mutex_acquire">) {
        lock.twice += lock.owner && *lock.owner != event.par1 ? 1U : 0U;
        lock.owner = event.par1;
    } else {
        lock.foreign += lock.owner && *lock.owner != event.par1 ? 1U : 0U;
        lock.owner.reset();
    }
}

void Doctor::add(const trace::Event& event) {
    if (event.metadata) {
        take_name(event);
        return;
    }
    if (!event.is_sound() || event.row == nullptr || trace::is_foreign(event)) {
        return;
    }
    if (event.after_hole || event.code == kCodeOf<"blackout_start"> || event.code == kCodeOf<"trace_start">) {
        forget();
    }
    ++m_events;
    ++m_counts[event.code];
    Processor& here = m_processors[event.cpu];
    m_falling += event.ticks.value < here.last ? 1U : 0U;
    here.last = event.ticks.value;
    switch (event.code) {
    case kCodeOf<"interrupt_start">:
    case kCodeOf<"interrupt_end">:
        take_interrupt(event, here);
        break;
    case kCodeOf<"task_dispatch">:
        here.dispatched = event.par1;
        break;
    case kCodeOf<"context_switch">:
        take_switch(event, here);
        break;
    case kCodeOf<"task_unblock">:
    case kCodeOf<"job_release">:
    case kCodeOf<"task_activate">:
        m_ready.insert(event.par1);
        break;
    case kCodeOf<"set_mutex_acquire">:
    case kCodeOf<"set_mutex_unlock">:
        take_lock(event);
        break;
    default:
        break;
    }
}

void Doctor::of_counts(const trace::TraceFacts& facts) {
    if (m_events == 0) {
        m_found.push_back({"nothing-recorded", "the trace has no event",
                           "call remora_start() after remora_init(), and see that GS leads to remora_cpu_of(n)",
                           "step 3"});
    }
    std::map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> lost; // by processor: dropped, refused at first
    for (const trace::ChunkReport& chunk : facts.chunks) {
        const auto [entry, first] =
            lost.try_emplace(chunk.description.cpu, chunk.description.dropped, chunk.description.refused);
        entry->second.first = std::max(entry->second.first, chunk.description.dropped);
    }
    for (const auto& [cpu, counts] : lost) {
        if (counts.first != 0) {
            m_found.push_back({"dropped", fmt::format("cpu {}: {} records found the memory full", cpu, counts.first),
                               "give it more memory, record fewer events, or start with REMORA_CYCLIC", "step 3"});
        }
        if (counts.second != 0) {
            m_found.push_back({"refused",
                               fmt::format("cpu {}: {} records came while nothing was recorded", cpu, counts.second),
                               "hooks that run before remora_start() or after remora_stop() are counted and do no harm",
                               "step 2", true});
        }
    }
    if (facts.build && facts.build->names_lost != 0) {
        m_found.push_back({"names-full", fmt::format("{} names found the table full", facts.build->names_lost),
                           "give remora_config.sizes more names", "step 6"});
    }
    if (facts.build && !facts.build->hooks.stated()) {
        m_found.push_back({"hooks-unstated", "the trace does not state which events the kernel records",
                           "set remora_config.hooks: rules without a hook are then left out instead of undecided",
                           "step 7", true});
    }
    if (m_falling != 0) {
        m_found.push_back({"clock", fmt::format("{} stamps are less than the one before on their processor", m_falling),
                           "the time stamp counter is written, or not invariant: nothing that times say is reliable",
                           "step 3"});
    }
}

void Doctor::of_interrupts() {
    for (const auto& [number, vector] : m_vectors) {
        // One that was open when the trace began or ended is no mistake.
        if (vector.unended > 1) {
            m_found.push_back({"interrupt-open",
                               fmt::format("vector {}: {} of {} handlers had not ended at a switch", number,
                                           vector.unended, vector.starts),
                               "call remora_isr_exit() on every path, and before the switch that a handler makes",
                               "step 5"});
        }
        if (vector.unstarted > 1) {
            m_found.push_back({"interrupt-unbegun",
                               fmt::format("vector {}: {} handlers ended that had not begun", number, vector.unstarted),
                               "call remora_isr_enter() at the beginning of every handler", "step 5"});
        }
    }
}

void Doctor::of_tasks(const trace::TraceFacts& facts) {
    const std::uint64_t switches = m_counts[kCodeOf<"context_switch">];
    if (m_counts[kCodeOf<"task_dispatch">] != 0 && m_undispatched > 1) {
        m_found.push_back(
            {"undispatched",
             fmt::format("{} of {} switches came without the dispatch that others have", m_undispatched, switches),
             "use remora_exec_begin() at each switch, that to the idle task included", "step 5"});
    }
    const bool idles = std::ranges::any_of(
        m_contexts, [&](std::uint16_t context) { return facts.names.find(tracer::Unit::context, context) == "idle"; });
    if (!m_contexts.empty() && !idles) {
        m_found.push_back({"no-idle", "no task called idle ran: the load of the machine is not known",
                           "name the task that runs when nothing else can \"idle\"", "step 6", true});
    }
    std::set<std::uint16_t> unready;
    std::ranges::set_difference(m_contexts, m_ready, std::inserter(unready, unready.end()));
    if (!m_ready.empty() && unready.size() > 1) { // one ran when the trace began
        m_found.push_back({"never-ready", "these ran and were never made ready: contexts " + list(unready, plain),
                           "call remora_task_ready() when a task may run for the first time, too", "step 7"});
    }
}

void Doctor::of_names(const trace::TraceFacts& facts) {
    std::set<std::uint16_t> several;
    for (const auto& [context, names] : m_names) {
        if (names.size() > 1) {
            several.insert(context);
        }
    }
    if (!several.empty()) {
        m_found.push_back(
            {"numbers-reused",
             "these contexts have several names: " + list(several,
                                                          [this](std::uint16_t context) {
                                                              return fmt::format(
                                                                  "{} ({})", context,
                                                                  text::escaped(*m_names[context].begin()) + ", " +
                                                                      text::escaped(*m_names[context].rbegin()));
                                                          }),
             "give each task a number of its own: a slot of a table is one task to every tool", "step 6"});
    }
    std::set<std::uint16_t> nameless;
    std::ranges::copy_if(m_contexts, std::inserter(nameless, nameless.end()), [&](std::uint16_t context) {
        return facts.names.find(tracer::Unit::context, context).empty();
    });
    std::set<std::uint16_t> vectors;
    for (const auto& [vector, figures] : m_vectors) {
        if (facts.names.find(tracer::Unit::vector, vector).empty()) {
            vectors.insert(vector);
        }
    }
    if (!nameless.empty()) {
        m_found.push_back({"nameless-tasks", "contexts without a name: " + list(nameless, plain),
                           "call remora_task_new() where a task is created", "step 6"});
    }
    if (!vectors.empty()) {
        m_found.push_back({"nameless-vectors", "vectors without a name: " + list(vectors, plain),
                           "call remora_name(REMORA_NAME_INTERRUPT, vector, name)", "step 6", true});
    }
}

void Doctor::of_locks(const trace::TraceFacts& facts) {
    const auto name = [&](std::uint16_t id) {
        const std::string_view known = facts.names.find(tracer::Unit::mutex, id);
        return known.empty() ? fmt::format("lock {}", id) : fmt::format("lock {} ({})", id, text::escaped(known));
    };
    for (const auto& [id, lock] : m_locks) {
        if (lock.foreign > 1) {
            m_found.push_back(
                {"spin-lock",
                 fmt::format("{}: released {} times by another task than the one that took it", name(id), lock.foreign),
                 "it belongs to a processor: use remora_spin_acquire() and remora_spin_release()", "step 8"});
        } else if (lock.twice > 1) {
            m_found.push_back({"two-owners", fmt::format("{}: taken {} times while it was owned", name(id), lock.twice),
                               m_processors.size() > 1
                                   ? std::string_view("the stamps of the processors differ by more than a hand-over")
                                   : std::string_view("record set_mutex_acquire when the task owns it, not before"),
                               "step 8"});
        }
    }
}

std::vector<Symptom> Doctor::finish(const trace::TraceFacts& facts) {
    of_counts(facts);
    of_interrupts();
    of_tasks(facts);
    of_locks(facts);
    of_names(facts);
    std::stable_partition(m_found.begin(), m_found.end(), [](const Symptom& symptom) { return !symptom.harmless; });
    return std::move(m_found);
}

} // namespace host::analyse
