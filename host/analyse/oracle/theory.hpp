// SPDX-License-Identifier: MIT
// The base of the theories, and those of the order of places, the round robin, mutexes and semaphores. Every theory has
// the model as it was before the event, the verdicts, and the tolerance of stamps. A theory keeps what it needs of each
// task or server in an account of its own.
#pragma once

#include "host/analyse/oracle/model.hpp"
#include "host/analyse/oracle/verdicts.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::analyse::oracle {

// A stamp is taken a few hundred instructions after the kernel read its clock, and a timer may be late by a section
// with interrupts off.
struct Timing {
    std::uint64_t tolerance = 0; // ticks, for each interval that is measured by two stamps
    // Ticks by which a stamp of a compact chunk may be too early in addition, because bits are cut.
    std::uint64_t granule = 0;
    bool judged = true;              // false if stamps say too little about the times that the kernel used
    std::uint64_t handler_began = 0; // stamp of the begin of the handler that runs, or ran last
    std::uint64_t handler_ended = 0; // stamp of the end of the one before, or of a section with interrupts off

    // Returns whether the handler that runs comes too late for what was due at that time, and nothing kept it back.
    [[nodiscard]] bool is_late(std::uint64_t due) const {
        return judged && handler_ended != 0 && handler_ended < due && handler_began > due + tolerance;
    }
};

// An interval in which one decision was in effect.
struct Interval {
    std::uint16_t exec = 0;   // the task whose place was used
    std::uint16_t shadow = 0; // the task that ran
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

    // Returns the ticks since `from` of the interval in progress if it uses the place of this task, or, with `shadow`,
    // if this task runs; else 0.
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

// Returns whether two times are equal but for the rounding of a conversion to ticks.
[[nodiscard]] constexpr bool same_but_rounding(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b <= 1 : b - a <= 1;
}

// The theories of order: fixed priority and EDF with one ready queue each, round robin, first in first out, levels in
// the order of their registration, inheritance through chains. They judge every task_schedule and inheritance, and
// every task that continues without a decision although another task had to run.
class Scheduling : public Theory {
  public:
    using Theory::Theory;

    void event(const trace::Event& event) {
        if (m_changed && model().running() && m_handlers_recorded) {
            judge_late(event);
        }
        if (kMayChangeTurns[event.code]) {
            m_changed = event.ticks.value;
        }
        if (event.code == trace::kCodeOf<"task_schedule">) {
            m_changed.reset();
            judge_decision(event);
        } else if (event.code == trace::kCodeOf<"inheritance">) {
            judge_inheritance(event);
        }
    }

    // Must be called for an event of an interrupt or a timer: the kernel does not decide before a handler ends, however
    // long that takes.
    void handler(const trace::Event& event) {
        if (m_changed &&
            (event.code == trace::kCodeOf<"interrupt_end"> || event.code == trace::kCodeOf<"timer_wakeup_end">)) {
            m_changed = event.ticks.value;
        }
    }

    // Must be called if records of handlers are missing from here on: how long one takes is not known then.
    void lose_handlers() { m_handlers_recorded = false; }

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

    // Returns the most urgent place that was passed over although its chain ends in a task that could run; null if
    // there is none. Sets `unknown` if a place that cannot be judged may have been passed over.
    [[nodiscard]] const Task* passed_over(const Task& exec, bool& unknown) const;
    [[nodiscard]] Rule order_rule(const Task& exec, const Task& missed) const;

    // Stamp of the latest record since the last decision that may have changed which task must run.
    std::optional<std::uint64_t> m_changed;
    bool m_handlers_recorded = true;
    std::string m_late; // the end of a text about a missing decision
};

// The theory of the round robin: a place is used for the length of a slice, by its task or by one that runs on its
// behalf, and then goes to the end of the queue with a new slice. A task that waits keeps the rest of its slice; an
// activation gives it a new one.
class RoundRobin : public Theory {
  public:
    using Theory::Theory;

    // Events of other codes have no effect.
    static constexpr const auto& kConcerns = trace::kAnyOf<"job_release", "slice_end", "task_end", "task_schedule">;

    void event(const trace::Event& event);
    void ran(const Interval& interval);

    void forget() { m_slices.clear(); }

  private:
    struct Slice {
        bool known = false; // the begin of the slice was recorded
        std::uint64_t used = 0;
        std::uint64_t intervals = 0;
        std::uint64_t from = 0; // stamp of its begin, if within an interval
    };

    // Returns the length of the task's slice in ticks; none if it has no slice.
    [[nodiscard]] std::optional<std::uint64_t> length(std::uint16_t context) const;
    void end_slice(const trace::Event& event);
    void settle(const trace::Event& event);

    std::map<std::uint16_t, Slice> m_slices;
};

// The theories of mutexes: ownership, ceilings, what the priority ceiling protocol grants and blocks, which jobs the
// stack resource policy lets start. Which task lends its place follows from the model's chains and is judged by
// Scheduling.
class Mutexes : public Theory {
  public:
    using Theory::Theory;

    // Events of other codes have no effect.
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
    // Judges that the task of an unlock or an inheritance is the owner. what: the verb of the text.
    void judge_owner(const trace::Event& event, std::string_view what);
    void judge_start(const trace::Event& event);
    void judge_ceiling(const Task& task, std::uint32_t id, const Mutex& mutex);
    void judge_stack_block(const trace::Event& event, const Task& task, const Mutex& mutex);

    // Returns the preemption level of the task, or that of the place in which it runs or has just run, if that is
    // higher. None if its place is not known.
    [[nodiscard]] std::optional<std::uint64_t> active_level(const Task& task) const;

    std::optional<Running> m_left;           // that of the last task that left the processor
    trace::NumberMap<std::uint32_t> m_asked; // by context: the mutex of its latest attempt
};

// The theory of semaphores: it counts units and waiters, and judges that a post with waiters wakes the most urgent one
// at once.

// The waiter that a post wakes: the first that came, or the most urgent one, and of equal ones the first.
enum class WakeOrder : std::uint8_t {
    arrival,
    urgency,
};

// kernel/sync/waiting.hpp promises this order.
inline constexpr WakeOrder kWakeOrder = WakeOrder::urgency;

class WakeUps : public Theory {
  public:
    using Theory::Theory;

    // Events of other codes have no effect.
    static constexpr const auto& kConcerns =
        trace::kAnyOf<"set_semaphore_create", "set_mutex_wait", "set_mutex_post", "set_mutex_unwait", "task_block",
                      "task_unblock", "task_end", "job_abort", "task_schedule">;

    void event(const trace::Event& event);

    // Must be called at the end of the trace.
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
        std::uint64_t owed = 0;             // how many posts must still wake a task
        std::optional<std::uint16_t> asked; // a task that requested a unit when none was left, or may have been left
    };

    void wait(const trace::Event& event);
    void post(const trace::Event& event);
    void block(const trace::Event& event);
    void unblock(const trace::Event& event);
    void leave(std::uint16_t context);
    void settle(const trace::Event& event);
    void resolve(std::uint16_t context, bool was_suspended);
    void judge_wake_order(const Semaphore& semaphore, std::uint32_t id, std::uint16_t woken);

    // Is a task that waited while a post woke no task. The wake-up is lost unless the task was suspended meanwhile,
    // which is only known when it is resumed.
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
