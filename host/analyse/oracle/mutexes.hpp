// SPDX-License-Identifier: MIT
// The mutex theories: ownership, the priority ceiling protocol's grants and blocks, the stack resource policy's starts,
// ceilings. Who lends a place to whom follows from the model's chains and is judged with the schedule.
#pragma once

#include "host/analyse/oracle/theory.hpp"
#include "host/trace/event.hpp"

namespace host::analyse::oracle {

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

} // namespace host::analyse::oracle
