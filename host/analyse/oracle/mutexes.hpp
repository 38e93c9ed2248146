// SPDX-License-Identifier: MIT
// The mutex theories: ownership, the priority ceiling protocol's grants and blocks, the stack resource policy's starts,
// ceilings. Who lends a place to whom follows from the model's chains and is judged with the schedule.
#pragma once

#include "host/analyse/oracle/theory.hpp"

namespace host::analyse::oracle {

class Mutexes : public Theory {
  public:
    using Theory::Theory;

    void event(const trace::Event& event);

  private:
    void judge_acquire(const trace::Event& event);
    void judge_block(const trace::Event& event);
    // The task of an unlock or an inheritance must be the owner. what: its verb.
    void judge_owner(const trace::Event& event, std::string_view what);
    void judge_start(const trace::Event& event);
    void judge_ceiling(const Task& task, std::uint32_t id, const Mutex& mutex);

    // The highest of the task's own preemption level and of those that lend it their places.
    [[nodiscard]] std::uint64_t active_level(const Task& task) const;
};

} // namespace host::analyse::oracle
