// SPDX-License-Identifier: MIT
// Has the theory of semaphores. In traces of older kernels, without task_block and task_unblock, nothing can be decided
// here.
#include "host/analyse/oracle/theory.hpp"
#include "host/text/format.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <limits>

namespace host::analyse::oracle {

using trace::kCodeOf;

namespace {

constexpr std::uint32_t kObjectMask = 0xFFFF;

} // namespace

void WakeUps::event(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"set_semaphore_create">: {
        Semaphore& semaphore = m_semaphores[event.par2];
        semaphore = {};
        semaphore.all_waiters_known = true;
        if (event.par1 != std::numeric_limits<std::uint16_t>::max()) { // the record saturates there
            semaphore.count = event.par1;
        }
        break;
    }
    case kCodeOf<"set_mutex_wait">:
        wait(event);
        break;
    case kCodeOf<"set_mutex_post">:
        post(event);
        break;
    case kCodeOf<"set_mutex_unwait">:
        std::erase(m_semaphores[event.par2].waiters, event.par1);
        break;
    case kCodeOf<"task_block">:
        block(event);
        break;
    case kCodeOf<"task_unblock">:
        unblock(event);
        break;
    case kCodeOf<"task_end">:
    case kCodeOf<"job_abort">:
        resolve(event.par1, true);
        leave(event.par1);
        break;
    case kCodeOf<"task_schedule">:
        settle(event);
        break;
    default:
        break;
    }
}

void WakeUps::wait(const trace::Event& event) {
    Semaphore& semaphore = m_semaphores[event.par2];
    if (!semaphore.count || !model().jobs_recorded()) {
        semaphore.count.reset(); // whether waits are recorded is not known yet
        verdicts().undecided(Rule::semaphore_count);
        if (model().jobs_recorded()) {
            semaphore.asked = event.par1;
        }
    } else if (*semaphore.count == 0) {
        semaphore.asked = event.par1;
    } else {
        --*semaphore.count;
        verdicts().pass(Rule::semaphore_count);
    }
}

void WakeUps::block(const trace::Event& event) {
    if (tracer::wait_kind(event.par2) == lib::WaitKind::suspended) {
        for (auto& [id, semaphore] : m_semaphores) {
            if (std::ranges::find(semaphore.waiters, event.par1) != semaphore.waiters.end()) {
                semaphore.all_waiters_known = false; // its wake-up is not recorded until it is resumed
            }
        }
        return;
    }
    if (tracer::wait_kind(event.par2) != lib::WaitKind::semaphore) {
        return;
    }
    Semaphore& semaphore = m_semaphores[event.par2 & kObjectMask];
    if (semaphore.count && semaphore.asked != event.par1) {
        verdicts().fail(Rule::semaphore_count, event.par1,
                        fmt::format("{} begins to wait on semaphore {}, which had a unit for it",
                                    model().name(event.par1), event.par2 & kObjectMask));
    } else if (semaphore.count) {
        verdicts().pass(Rule::semaphore_count);
    }
    semaphore.count = 0;
    semaphore.asked.reset();
    semaphore.waiters.push_back(event.par1);
}

void WakeUps::post(const trace::Event& event) {
    Semaphore& semaphore = m_semaphores[event.par2];
    if (!model().jobs_recorded()) {
        semaphore.count.reset(); // the post may have woken a task whose wait is not recorded
        verdicts().undecided(Rule::lost_wakeup);
        return;
    }
    if (semaphore.waiters.size() > semaphore.owed) {
        ++semaphore.owed;
    } else if (semaphore.all_waiters_known) {
        if (semaphore.count) {
            ++*semaphore.count;
        }
    } else {
        semaphore.count.reset(); // the post may have woken an unknown task
        verdicts().undecided(Rule::lost_wakeup);
    }
}

void WakeUps::judge_wake_order(const Semaphore& semaphore, std::uint32_t id, std::uint16_t woken) {
    const Task* const task = model().find(woken);
    if (task == nullptr || !semaphore.all_waiters_known) {
        verdicts().undecided(Rule::wake_order);
        return;
    }
    bool unknown = false;
    for (const std::uint16_t context : semaphore.waiters) {
        const Task* const other = model().find(context);
        if (context == woken) {
            continue;
        }
        if (other == nullptr) {
            unknown = true;
            continue;
        }
        const bool came_first =
            std::ranges::find(semaphore.waiters, context) < std::ranges::find(semaphore.waiters, woken);
        const bool by_urgency = kWakeOrder == WakeOrder::urgency;
        const Truth higher = by_urgency ? model().more_urgent(*other, *task) : Truth::no;
        const Truth lower = by_urgency ? model().more_urgent(*task, *other) : Truth::no;
        if (higher == Truth::yes || (higher == Truth::no && lower == Truth::no && came_first)) {
            verdicts().fail(Rule::wake_order, woken,
                            fmt::format("semaphore {} wakes {}, but {} waits {}", id, model().place_text(*task),
                                        model().place_text(*other),
                                        higher == Truth::yes ? "with higher urgency" : "longer"));
            return;
        }
        unknown = unknown || higher == Truth::unknown;
    }
    unknown ? verdicts().undecided(Rule::wake_order) : verdicts().pass(Rule::wake_order);
}

void WakeUps::unblock(const trace::Event& event) {
    if (tracer::wait_kind(event.par2) != lib::WaitKind::semaphore) {
        if (tracer::wait_kind(event.par2) == lib::WaitKind::suspended) {
            resolve(event.par1, true);
            leave(event.par1); // its next records show whether its wait has ended
        }
        return;
    }
    resolve(event.par1, false);
    const std::uint32_t id = event.par2 & kObjectMask;
    Semaphore& semaphore = m_semaphores[id];
    if (semaphore.owed > 0) {
        --semaphore.owed;
        verdicts().pass(Rule::lost_wakeup);
        judge_wake_order(semaphore, id, event.par1);
    }
    std::erase(semaphore.waiters, event.par1);
}

void WakeUps::leave(std::uint16_t context) {
    for (auto& [id, semaphore] : m_semaphores) {
        std::erase(semaphore.waiters, context);
        if (semaphore.asked == context) {
            semaphore.asked.reset();
        }
        semaphore.owed = std::min<std::uint64_t>(semaphore.owed, semaphore.waiters.size());
    }
}

void WakeUps::lose(const Suspect& suspect) {
    verdicts().fail(Rule::lost_wakeup, suspect.context,
                    fmt::format("semaphore {} was posted before {} ticks while {} waited, and no task was woken",
                                suspect.semaphore, suspect.ticks, model().name(suspect.context)));
}

void WakeUps::resolve(std::uint16_t context, bool was_suspended) {
    for (const Suspect& suspect : m_suspects) {
        if (suspect.context == context && was_suspended) {
            verdicts().undecided(Rule::lost_wakeup);
        } else if (suspect.context == context) {
            lose(suspect);
        }
    }
    std::erase_if(m_suspects, [context](const Suspect& suspect) { return suspect.context == context; });
}

void WakeUps::finish() {
    for (const Suspect& suspect : m_suspects) {
        lose(suspect);
    }
    m_suspects.clear();
}

void WakeUps::settle(const trace::Event& event) {
    for (auto& [id, semaphore] : m_semaphores) {
        if (semaphore.owed > 0) {
            if (semaphore.all_waiters_known) {
                m_suspects.push_back({semaphore.waiters.front(), id, event.ticks.value});
                semaphore.waiters.erase(semaphore.waiters.begin());
            } else {
                verdicts().undecided(Rule::lost_wakeup);
            }
            semaphore.owed = 0;
        }
        if (semaphore.asked && !semaphore.count) {
            semaphore.waiters.clear(); // it took a unit, so no task waited
            semaphore.all_waiters_known = true;
        } else if (semaphore.asked) {
            verdicts().fail(Rule::semaphore_count, *semaphore.asked,
                            fmt::format("{} waits on semaphore {}, which has no unit, and continues",
                                        model().name(*semaphore.asked), id));
        }
        semaphore.asked.reset();
    }
}

} // namespace host::analyse::oracle
