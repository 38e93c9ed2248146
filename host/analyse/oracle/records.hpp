// SPDX-License-Identifier: MIT
// The theory of the records themselves: what the kernel writes in one go comes in one piece, what begins ends, and each
// stamp is later than the one before. A record that was left out, moved or invented breaks such an order even where it
// changes no decision.
//
// A kernel of another version may record less. So a relation is only judged once it has held kHabit times in the trace
// without an exception.
#pragma once

#include "host/analyse/oracle/theory.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace host::analyse::oracle {

class Records : public Theory {
  public:
    using Theory::Theory;

    // Must be called for each event, in the order of the trace. strict: two records cannot have the same stamp.
    void event(const trace::Event& event, bool strict);

    void forget();

    // Returns whether the stamps of the trace have not advanced, so that no time in it means anything.
    [[nodiscard]] bool clock_stopped() const { return m_events > kHabit && !m_moved; }

  private:
    static constexpr unsigned kHabit = 8;

    struct Habit {
        unsigned needed = kHabit;
        unsigned held = 0;
        bool broken = false;
    };

    // Is what the next record must be.
    struct Expected {
        Habit* habit = nullptr;
        std::string_view after; // the record that requires it
        std::uint16_t subject = 0;
        std::array<std::uint8_t, 2> codes{}; // either
        std::optional<std::uint32_t> par2{}; // of the first of them
    };

    struct Causes {
        std::uint64_t count = 0; // activations and releases by the timer that have not led to a job
        bool busy = false;       // it has a job
    };

    void expect(Habit& habit, const trace::Event& event, std::uint16_t subject, std::array<std::uint8_t, 2> codes,
                std::optional<std::uint32_t> par2 = {});
    void judge_after(Habit& habit, bool holds, const trace::Event& event);
    template <typename Text>
    void judge(Habit& habit, Rule rule, bool holds, std::uint16_t task, Text&& text);
    void judge_clock(const trace::Event& event, bool strict);
    void judge_next(const trace::Event& event);
    void judge_pieces(const trace::Event& event);
    void judge_stated(const trace::Event& event);
    void judge_decision(const trace::Event& event);
    [[nodiscard]] bool is_free(std::uint32_t id) const;
    void judge_mutexes(const trace::Event& event);
    void judge_servers(const trace::Event& event);
    void judge_exceptions(const trace::Event& event);
    void judge_turns(const trace::Event& event);
    void judge_handlers(const trace::Event& event);
    void judge_causes(const trace::Event& event);
    void judge_awaited(const trace::Event& event);
    void judge_arrival(const trace::Event& event, Causes& causes, bool hard);

    void begin(std::uint16_t handler);
    void end(std::uint16_t handler, const trace::Event& event);

    Habit m_clock;
    Habit m_priority;            // job_deadline and set_priority
    Habit m_stated{.needed = 1}; // the deadlines that both state
    Habit m_decision;            // task_schedule and task_dispatch
    Habit m_switch;              // task_dispatch and context_switch
    Habit m_lock;                // set_mutex_lock, and set_mutex_acquire or task_epilogue
    Habit m_inherit;             // set_mutex_block and set_mutex_inherit
    Habit m_refill;              // server_active or server_replenish, server_budget, server_deadline
    Habit m_answer;              // task_activate or task_timer of a busy task, and what becomes of it
    Habit m_exception;           // what a task did wrong, and task_exception
    Habit m_turn;                // task_dispatch and task_epilogue
    Habit m_handler;             // the begin and the end of a handler
    Habit m_cause;               // task_activate or task_timer, and job_release
    Habit m_end;                 // the end of a job, and job_release
    std::uint64_t m_events = 0;
    bool m_moved = false;    // two stamps differ
    bool m_dropping = false; // in a blackout: records that are important are there without those that follow
    std::optional<std::uint64_t> m_stamp;
    std::optional<Expected> m_expected;
    bool m_refilling = true;                   // server_budget and server_deadline may belong to an arrival or a refill
    std::uint16_t m_subject_before = 0;        // par1 of the latest record of the schedule
    std::uint8_t m_before = 0;                 // code of the latest record of the schedule; 0: not known
    std::optional<std::uint16_t> m_current;    // the task of the latest context_switch
    std::optional<std::uint16_t> m_dispatched; // the task that has been dispatched; 0: it has left
    std::vector<std::uint16_t> m_handlers;     // those that have begun
    bool m_handlers_known = false;
    std::optional<std::uint16_t> m_awaited;   // the task whose job must be released before the next decision
    std::map<std::uint16_t, Causes> m_causes; // by context, of tasks that were created since the latest hole
};

} // namespace host::analyse::oracle
