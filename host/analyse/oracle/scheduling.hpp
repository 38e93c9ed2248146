// SPDX-License-Identifier: MIT
// The order theories: fixed priority and EDF over one ready queue each, round robin, first in first out, levels in the
// order of their registration, inheritance through chains. Judges every task_schedule and inheritance, and every task
// that continues without one although it was another task's turn.
#pragma once

#include "host/analyse/oracle/theory.hpp"
#include "host/trace/event.hpp"

namespace host::analyse::oracle {

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

} // namespace host::analyse::oracle
