// SPDX-License-Identifier: MIT
// What every theory sees: the model as it was before the event, where judgements go, and how far a stamp may be from
// the time that the kernel used. A theory keeps what it needs per task or server in an account of its own.
#pragma once

#include "host/analyse/oracle/model.hpp"
#include "host/analyse/oracle/verdicts.hpp"
#include "host/trace/code_set.hpp"
#include "host/trace/number_map.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::analyse::oracle {

// Stamps come a few hundred instructions after the kernel read its clock, timers up to an interrupts-off section late.
struct Timing {
    std::uint64_t tolerance = 0; // ticks, for each interval that is measured by two stamps
    std::uint64_t granule = 0;   // ticks that a stamp of a compact chunk may be too early, in addition: cut bits
    bool judged = true;          // false: stamps say too little about the kernel's times
};

// One stay on the processor.
struct Interval {
    std::uint16_t exec = 0;   // whose place was used
    std::uint16_t shadow = 0; // who ran
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] std::uint64_t ticks() const { return end - begin; }
};

class Theory {
  public:
    Theory(const Model& model, Verdicts& verdicts, const Timing& timing)
        : m_model(model)
        , m_verdicts(verdicts)
        , m_timing(timing) {}

  protected:
    [[nodiscard]] const Model& model() const { return m_model; }

    [[nodiscard]] Verdicts& verdicts() const { return m_verdicts; }

    [[nodiscard]] const Timing& timing() const { return m_timing; }

    // The interval in progress at this stamp, if this task's place is used (or the task runs, by `shadow`).
    [[nodiscard]] std::uint64_t so_far(std::uint16_t context, std::uint64_t from, std::uint64_t now,
                                       bool shadow = false) const {
        const auto& running = m_model.running();
        if (!running || (shadow ? running->shadow : running->exec) != context) {
            return 0;
        }
        const std::uint64_t begin = running->since > from ? running->since : from;
        return now > begin ? now - begin : 0;
    }

  private:
    const Model& m_model;
    Verdicts& m_verdicts;
    const Timing& m_timing;
};

// Whether two times are the same but for the rounding of a conversion to ticks.
[[nodiscard]] constexpr bool same_but_rounding(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b <= 1 : b - a <= 1;
}

// The order theories: fixed priority and EDF over one ready queue each, round robin, first in first out, levels in the
// order of their registration, inheritance through chains. Judges every task_schedule and inheritance, and every task
// that continues without one although it was another task's turn.
class Scheduling : public Theory {
  public:
    using Theory::Theory;

    // code: the event's, where it is a constant (host/trace/by_code.hpp).
    [[gnu::always_inline]] void event(const trace::Event& event, std::uint8_t code) {
        if (m_changed && model().running()) {
            judge_late(event);
        }
        if (kMayChangeTurns[code]) {
            m_changed = event.ticks.value;
        }
        if (code == trace::kCodeOf<"task_schedule">) {
            m_changed.reset();
            judge_decision(event);
        } else if (code == trace::kCodeOf<"inheritance">) {
            judge_inheritance(event);
        }
    }

    // An event of an interrupt or a timer: nothing is decided before a handler ends, however long it takes.
    [[gnu::always_inline]] void handler(const trace::Event& event, std::uint8_t code) {
        if (m_changed && (code == trace::kCodeOf<"interrupt_end"> || code == trace::kCodeOf<"timer_wakeup_end">)) {
            m_changed = event.ticks.value;
        }
    }

  private:
    static constexpr const auto& kMayChangeTurns =
        trace::kAnyOf<"task_unblock", "job_release", "job_deadline", "slice_end", "set_mutex_unlock",
                      "set_mutex_owner_died", "server_replenish">;

    void judge_inheritance(const trace::Event& event);
    void judge_late(const trace::Event& event);
    void judge_decision(const trace::Event& event);
    void judge_state(const Task& exec, const Task& shadow);
    void judge_chain(const Task& exec, const Task& shadow);
    void judge_order(const Task& exec);

    // The most urgent place that was passed over although its chain ends in a task that could run; null: none.
    // unknown: a place that cannot be judged may have been one.
    [[nodiscard]] const Task* passed_over(const Task& exec, bool& unknown) const;
    [[nodiscard]] Rule order_rule(const Task& exec, const Task& missed) const;

    // Of the last record that may have changed whose turn it is, since the last decision.
    std::optional<std::uint64_t> m_changed;
    std::string m_late; // ends a sentence about a decision that was not taken
};

// Slices of the round robin: a place is used for so long, by its task or by whoever runs on its behalf, and then goes
// to the end of the queue with a new slice. A task that waits keeps the rest of its slice; an activation brings a new
// one.
class RoundRobin : public Theory {
  public:
    using Theory::Theory;

    // The others do nothing.
    static constexpr const auto& kConcerns = trace::kAnyOf<"job_release", "slice_end", "task_end", "task_schedule">;

    void event(const trace::Event& event);
    void ran(const Interval& interval);

    void forget() { m_slices.clear(); }

  private:
    struct Slice {
        bool known = false; // its beginning was seen
        std::uint64_t used = 0;
        std::uint64_t intervals = 0;
        std::uint64_t from = 0; // when it began, if within a stay on the processor
    };

    // The length of the task's slice in ticks; none: it has no slice.
    [[nodiscard]] std::optional<std::uint64_t> length(std::uint16_t context) const;
    void end_slice(const trace::Event& event);
    void settle(const trace::Event& event);

    std::map<std::uint16_t, Slice> m_slices;
};

// The mutex theories: ownership, the priority ceiling protocol's grants and blocks, the stack resource policy's starts,
// ceilings. Who lends a place to whom follows from the model's chains and is judged with the schedule.
class Mutexes : public Theory {
  public:
    using Theory::Theory;

    // The others do nothing.
    static constexpr const auto& kConcerns =
        trace::kAnyOf<"task_epilogue", "set_mutex_lock", "set_mutex_acquire", "set_mutex_block", "set_mutex_unlock",
                      "set_mutex_inherit", "task_begin_cycle">;

    void event(const trace::Event& event);

    void forget() {
        m_left.reset();
        m_asked.clear();
    }

  private:
    void judge_acquire(const trace::Event& event);
    void judge_block(const trace::Event& event);
    // The task of an unlock or an inheritance must be the owner. what: its verb.
    void judge_owner(const trace::Event& event, std::string_view what);
    void judge_start(const trace::Event& event);
    void judge_ceiling(const Task& task, std::uint32_t id, const Mutex& mutex);
    void judge_stack_block(const trace::Event& event, const Task& task, const Mutex& mutex);

    // The task's own preemption level, or that of the place in which it runs, or has just run, if that is higher.
    // None: its place is not known.
    [[nodiscard]] std::optional<std::uint64_t> active_level(const Task& task) const;

    std::optional<Running> m_left;           // of the last task that left the processor
    trace::NumberMap<std::uint32_t> m_asked; // by context: the mutex of its latest attempt
};

// Semaphores: how many units there are, who waits, and that a post with waiters wakes the most urgent of them at once.

// Whom a post wakes: the waiter that came first, or the most urgent one, of equal ones the first.
enum class WakeOrder : std::uint8_t {
    arrival,
    urgency,
};

// As kernel/sync/wait_queue.hpp promises.
inline constexpr WakeOrder kWakeOrder = WakeOrder::urgency;

class WakeUps : public Theory {
  public:
    using Theory::Theory;

    // The others do nothing.
    static constexpr const auto& kConcerns =
        trace::kAnyOf<"set_semaphore_create", "set_mutex_wait", "set_mutex_post", "set_mutex_unwait", "task_block",
                      "task_unblock", "task_end", "job_abort", "task_schedule">;

    void event(const trace::Event& event);

    // Call at the end of the trace.
    void finish();

    void forget() {
        m_semaphores.clear();
        m_suspects.clear();
    }

  private:
    struct Semaphore {
        std::optional<std::uint64_t> count;
        std::vector<std::uint16_t> waiters; // in the order in which they came
        bool all_waiters_known = false;
        std::uint64_t owed = 0;             // posts that must wake a task
        std::optional<std::uint16_t> asked; // waits without a unit: it must block
    };

    void wait(const trace::Event& event);
    void post(const trace::Event& event);
    void block(const trace::Event& event);
    void unblock(const trace::Event& event);
    void leave(std::uint16_t context);
    void settle(const trace::Event& event);
    void resolve(std::uint16_t context, bool was_suspended);
    void judge_wake_order(const Semaphore& semaphore, std::uint32_t id, std::uint16_t woken);

    // A post woke no task although this one waits: lost, unless the task was suspended meanwhile, which shows only when
    // it is resumed.
    struct Suspect {
        std::uint16_t context = 0;
        std::uint32_t semaphore = 0;
        std::uint64_t ticks = 0;
    };

    void lose(const Suspect& suspect);

    std::map<std::uint32_t, Semaphore> m_semaphores;
    std::vector<Suspect> m_suspects;
};

} // namespace host::analyse::oracle
