// SPDX-License-Identifier: MIT
// Semaphores: how many units there are, who waits, and that a post with waiters wakes the most urgent of them at once.
#pragma once

#include "host/analyse/oracle/theory.hpp"
#include "host/trace/code_set.hpp"

#include <map>
#include <vector>

namespace host::analyse::oracle {

// Whom a post wakes: the waiter that came first, or the most urgent one, of equal ones the first.
enum class WakeOrder : std::uint8_t {
    arrival,
    urgency,
};

// As kernel/sync/waiting.hpp promises.
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
