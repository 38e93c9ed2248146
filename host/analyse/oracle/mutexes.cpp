// SPDX-License-Identifier: MIT
// Has the theories of mutexes. Ceilings are recorded in microseconds, so a level that is equal in microseconds is not
// higher.
#include "host/analyse/oracle/theory.hpp"

#include "host/text/format.hpp"

#include <algorithm>

namespace host::analyse::oracle {

using trace::kCodeOf;

namespace {

std::string mutex_text(const trace::Event& event, std::uint32_t id) {
    const std::string_view name = event.names->find(tracer::Unit::mutex, id);
    return name.empty() ? fmt::format("mutex {}", id) : fmt::format("mutex {} ({})", id, name);
}

} // namespace

void Mutexes::event(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"task_epilogue">:
        m_left = model().running();
        break;
    case kCodeOf<"set_mutex_lock">:
        m_asked[event.par1] = event.par2;
        break;
    case kCodeOf<"set_mutex_acquire">:
        judge_acquire(event);
        break;
    case kCodeOf<"set_mutex_block">:
        judge_block(event);
        break;
    case kCodeOf<"set_mutex_unlock">:
        judge_owner(event, "unlocks");
        break;
    case kCodeOf<"set_mutex_inherit">:
        judge_owner(event, "is recorded as inheriting through");
        break;
    case kCodeOf<"task_begin_cycle">:
        judge_start(event);
        break;
    default:
        break;
    }
}

std::optional<std::uint64_t> Mutexes::active_level(const Task& task) const {
    const auto& running = model().running() ? model().running() : m_left;
    const Task* const place = running && running->shadow == task.context ? model().find(running->exec) : nullptr;
    if (place == nullptr) {
        return std::nullopt;
    }
    const auto own = model().preemption_level(task);
    const auto lent = model().preemption_level(*place);
    return own && lent ? std::optional(std::min(*own, *lent)) : std::nullopt;
}

void Mutexes::judge_ceiling(const Task& task, std::uint32_t id, const Mutex& mutex) {
    if (mutex.protocol != Protocol::ceiling && mutex.protocol != Protocol::stack) {
        return;
    }
    const auto level = model().preemption_level(task);
    if (!mutex.ceiling_us || !level) {
        verdicts().undecided(Rule::ceiling);
        return;
    }
    const std::uint64_t level_us = *level / 1'000;
    verdicts().judge(Rule::ceiling, *mutex.ceiling_us <= level_us, task.context, [&] {
        return fmt::format("{} locks mutex {}, whose ceiling {} us is below its preemption level {} us",
                           model().name(task.context), id, *mutex.ceiling_us, level_us);
    });
}

void Mutexes::judge_acquire(const trace::Event& event) {
    const Mutex* const mutex = model().mutex(event.par2);
    const Task* const task = model().find(event.par1);
    if (mutex == nullptr || !mutex->known || task == nullptr || !model().acquires_recorded()) {
        verdicts().undecided(Rule::mutex_owner);
        return;
    }
    verdicts().judge(Rule::mutex_owner, mutex->owner == 0, event.par1, [&] {
        return fmt::format("{} acquires {}, which {} owns", model().name(event.par1), mutex_text(event, event.par2),
                           model().name(mutex->owner));
    });
    judge_ceiling(*task, event.par2, *mutex);
    if (mutex->protocol == Protocol::stack) {
        verdicts().pass(Rule::srp_block);
    }
    if (mutex->protocol != Protocol::ceiling) {
        return;
    }
    bool unknown = false;
    const Mutex* const held = model().highest_ceiling(Protocol::ceiling, event.par1, unknown);
    const auto level = active_level(*task);
    const Truth above = unknown || !level ? Truth::unknown
                        : held == nullptr ? Truth::yes
                                          : Model::is_above(*level, *held->ceiling_us);
    if (above == Truth::unknown) {
        verdicts().undecided(Rule::pc_grant);
        return;
    }
    const std::uint64_t level_us = *level / 1'000;
    verdicts().judge(Rule::pc_grant, above == Truth::yes, event.par1, [&] {
        return fmt::format("{} with the preemption level {} us is granted {}, but {} holds a mutex with the ceiling "
                           "{} us",
                           model().name(event.par1), level_us, mutex_text(event, event.par2), model().name(held->owner),
                           *held->ceiling_us);
    });
}

void Mutexes::judge_block(const trace::Event& event) {
    const Mutex* const mutex = model().mutex(event.par2);
    const Task* const task = model().find(event.par1);
    if (mutex == nullptr || !mutex->known || task == nullptr) {
        verdicts().undecided(Rule::mutex_owner);
        return;
    }
    verdicts().judge(Rule::mutex_owner, mutex->owner != 0 && mutex->owner != event.par1, event.par1, [&] {
        return fmt::format("{} is blocked by {}, which {}", model().name(event.par1), mutex_text(event, event.par2),
                           mutex->owner == 0 ? "no task owns" : "it owns itself");
    });
    if (mutex->protocol == Protocol::stack) {
        judge_stack_block(event, *task, *mutex);
    }
    if (mutex->protocol != Protocol::ceiling || !mutex->ceiling_us) {
        return;
    }
    bool unknown = false;
    const Mutex* const held = model().highest_ceiling(Protocol::ceiling, event.par1, unknown);
    const auto level = active_level(*task);
    const std::uint32_t* const asked = m_asked.find(event.par1);
    if (unknown || held == nullptr || !level || asked == nullptr ||
        Model::is_above(*level, *held->ceiling_us) == Truth::unknown) {
        verdicts().undecided(Rule::pc_block);
        return;
    }
    const std::uint64_t level_us = *level / 1'000;
    // A task that another protocol has raised above the ceilings may request a mutex that is held.
    const bool taken =
        *asked == event.par2 && mutex->owner != 0 && *model().preemption_level(*task) / 1'000 >= *mutex->ceiling_us;
    const bool forbidden = *mutex->ceiling_us == *held->ceiling_us && level_us >= *held->ceiling_us;
    verdicts().judge(Rule::pc_block, forbidden || taken, event.par1, [&] {
        return fmt::format("{} with the preemption level {} us is blocked by {} with the ceiling {} "
                           "us, but the highest ceiling that others hold is {} us",
                           model().name(event.par1), level_us, mutex_text(event, event.par2), *mutex->ceiling_us,
                           *held->ceiling_us);
    });
}

// Jobs that leave their places or run in those of others break the order of a stack, and then a requested mutex may be
// held: they wait within a job, are suspended, use up a slice or a budget, or inherit.
void Mutexes::judge_stack_block(const trace::Event& event, const Task& task, const Mutex& mutex) {
    const Task* const owner = model().find(mutex.owner);
    if (owner == nullptr || !owner->kept_place || !task.kept_place) {
        verdicts().undecided(Rule::srp_block);
        return;
    }
    verdicts().fail(
        Rule::srp_block, event.par1,
        fmt::format("{} is blocked by {} of the stack protocol, and neither it nor the owner {} has left its "
                    "place since its job began",
                    model().name(event.par1), mutex_text(event, event.par2), model().name(mutex.owner)));
}

void Mutexes::judge_owner(const trace::Event& event, std::string_view what) {
    const Mutex* const mutex = model().mutex(event.par2);
    if (mutex == nullptr || !mutex->known) {
        verdicts().undecided(Rule::mutex_owner);
        return;
    }
    verdicts().judge(Rule::mutex_owner, mutex->owner == event.par1, event.par1, [&] {
        return fmt::format("{} {} {}, which {}", model().name(event.par1), what, mutex_text(event, event.par2),
                           mutex->owner == 0 ? "no task owns" : model().name(mutex->owner) + " owns");
    });
}

void Mutexes::judge_start(const trace::Event& event) {
    const Task* const task = model().find(event.par1);
    const Truth stopped = task != nullptr ? model().stopped(*task) : Truth::unknown;
    if (stopped == Truth::unknown) {
        verdicts().undecided(Rule::srp_start);
        return;
    }
    bool unknown = false;
    const Mutex* const held = model().highest_ceiling(Protocol::stack, event.par1, unknown);
    if (held == nullptr) {
        return; // no ceiling has to be exceeded
    }
    verdicts().judge(Rule::srp_start, stopped == Truth::no, event.par1, [&] {
        return fmt::format("a job of {} with the preemption level {} us begins, but {} holds a mutex with the ceiling "
                           "{} us",
                           model().name(event.par1), model().preemption_level(*task).value_or(0) / 1'000,
                           model().name(held->owner), *held->ceiling_us);
    });
}

} // namespace host::analyse::oracle
